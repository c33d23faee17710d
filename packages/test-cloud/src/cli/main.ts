#!/usr/bin/env node
// Compiled code is cached for the next start; this must be enabled before anything else is loaded.
const node = process.getBuiltinModule('node:module') as { enableCompileCache?(): unknown };
node.enableCompileCache?.();
const { main } = await import('./command.js');
await main(process.argv.slice(2));

export {};
