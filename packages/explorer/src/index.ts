export { type CheckOptions, type CheckResult, checkDocuments } from './check/check-documents.js';
export { DocumentError } from './documents/document-error.js';
export { type ApiDocument, type DocumentedApi, documentedApi } from './documents/documented-api.js';
export { ExplorerError } from './errors.js';
export { type ExplorerHandler, explorer } from './explorer.js';
export { changesMarkdown } from './markdown.js';
export type { CodeSample, SampleRequest } from './model/code-samples.js';
export type {
  AuthenticationGuide,
  ExplorerOptions,
  OfferedToken,
  OperationFacts,
  OperationGroup,
  PageTexts,
  ValueSource,
} from './options.js';
export type { Logo, ThemeColor, ThemeColors } from './theme.js';
export { type VersionedTypesOptions, versionedTypes } from './types/versioned-types.js';
