// Of an error only its text: by itself Node.js shows the line, and all of Pyodide is one line.
process.on("uncaughtException", (error) => {
  console.error(error.message);
  process.exit(1);
});
