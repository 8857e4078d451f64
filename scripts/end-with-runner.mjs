// Loaded into every test process: when the runner is killed, so are the tests and the servers they started.
process.once("disconnect", () => process.exit(1));
