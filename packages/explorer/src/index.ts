export { type ExplorerHandler, explorer } from './explorer.js';
export { changesMarkdown } from './markdown.js';
export type { ExplorerOptions, OfferedToken } from './options.js';
export { type VersionedTypesOptions, versionedTypes } from './types/versioned-types.js';
