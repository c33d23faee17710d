#!/usr/bin/env node
// From Node 22.8 on what was compiled is kept for the next start; that has to be said before anything else is loaded.
const node = process.getBuiltinModule('node:module') as { enableCompileCache?(): unknown };
node.enableCompileCache?.();
const { main } = await import('./command.js');
await main(process.argv.slice(2));

export {};
