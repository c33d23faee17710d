#!/usr/bin/env node
// Caches compiled code for the next start; must be enabled before other imports.
const node = process.getBuiltinModule('node:module') as { enableCompileCache?(): unknown };
node.enableCompileCache?.();
const { main } = await import('./command.js');
await main(process.argv.slice(2));

export {};
