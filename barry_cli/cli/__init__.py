"""The command line: parse, call, render. No policy and no files here."""
