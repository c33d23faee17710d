// Runs one section in a separate process, and sends its rows to `run.mjs`.
const [name, quick] = process.argv.slice(2);
const { run } = await import(`./${name}.mjs`);
const rows = await run({ quick: quick === 'quick' });
process.send(rows, () => process.exit(0));
