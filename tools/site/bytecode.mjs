// Compiles Python modules with the Python of Pyodide, without the texts of their documentation. A page
// that loads the bytecode need not compile, which takes nine tenths of the time of importing sympy.
//
//     node tools/site/bytecode.mjs PYODIDE MODULES BYTECODE
//
// PYODIDE is the folder of the npm package; MODULES and BYTECODE are zip files.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import "./told.mjs";

const [pyodide, modules, bytecode] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodide}/pyodide.mjs`).href);
// The same bytes each time; of its place in the source, an instruction keeps the line.
const python = await loadPyodide({ env: { HOME: "/", PYTHONHASHSEED: "0", PYTHONNODEBUGRANGES: "1" } });
python.unpackArchive(new Uint8Array(readFileSync(modules)), "zip", { extractDir: "/ntp" });
python.runPython(`
import warnings
from pathlib import Path
from py_compile import PycInvalidationMode, compile
from zipfile import ZipFile

warnings.simplefilter("ignore")
with ZipFile("/bytecode.zip", "w") as archive:
    for file in sorted(Path("/ntp").rglob("*.py")):
        made = compile(
            str(file), "/made.pyc", doraise=True, optimize=2,
            invalidation_mode=PycInvalidationMode.UNCHECKED_HASH,
        )
        archive.write(made, f"{file.relative_to('/ntp')}c")
`);
writeFileSync(bytecode, python.FS.readFile("/bytecode.zip"));
process.exit(0); // nothing else is awaited
