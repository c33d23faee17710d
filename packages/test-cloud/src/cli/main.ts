#!/usr/bin/env node
// The compile cache makes the next start faster. It applies only to modules that are imported afterwards.
const node = process.getBuiltinModule('node:module') as { enableCompileCache?(): unknown };
node.enableCompileCache?.();
const { main } = await import('./command.js');
await main(process.argv.slice(2));

export {};
