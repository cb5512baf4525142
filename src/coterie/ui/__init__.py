"""The page: a custodian's way from a file to a checked release in the browser, on this machine alone.

| module | what it is |
|---|---|
| `server` | starts and ends it: a port of the loopback interface, a link that works once |
| `guard`, `access` | what every request must pass |
| `locations` | what may be opened and written: places below the root |
| `app`, `asked`, `render` | from a request to a handler, and from facts to a page |
| `session`, `steps`, `edits` | the state: a recipe and its history, candidates, what was made |
| `jobs`, `worker` | the process that does the work and holds the records |
| `pages/`, `templates/`, `static/` | one module and one template a page |
| `handbook` | the documentation, as pages |
"""
