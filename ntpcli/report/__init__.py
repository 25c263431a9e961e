"""`ntpcore report`: all that is said of a reader's data, on one offline page."""
