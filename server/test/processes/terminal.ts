/** Loaded into a command by `--import`: standard error is a terminal. */
Object.defineProperty(process.stderr, 'isTTY', { value: true })
