import { Version } from '@apistrata/microversion';
import { DocumentError } from './document-error.js';
import type { OpenApiDocument } from './openapi-document.js';

/** An OpenAPI document and its version. */
export interface VersionedDocument {
  readonly version: Version;
  readonly document: OpenApiDocument;
}

const VERSION_FORMATS = 'MAJOR.MINOR, MAJOR.MINOR.PATCH, YYYY-MM-DD or an integer';

/** Parses a version. The formats `v1.2.3` and `2026-07-29.name` are also accepted. */
function versionOf(text: unknown, label: string, isNamed: boolean): Version {
  const normalizedText = String(text ?? '')
    .replace(/^v(?=\d)/, '')
    .replace(/^(\d{4}-\d\d-\d\d)[.-][a-z]+$/, '$1');
  try {
    return Version.of(normalizedText);
  } catch {
    throw new DocumentError(
      isNamed
        ? `"${text}" is not a version: write VERSION=${label}, with a version in the format ${VERSION_FORMATS}`
        : `${label} has the version ${JSON.stringify(text)}, which is not in the format ${VERSION_FORMATS}: name it, as in 2026-01-31=${label}`,
    );
  }
}

/**
 * Returns documents with their versions, lowest version first. A version is the given name or `info.version`.
 *
 * @throws DocumentError if a version is malformed, occurs twice, or has a format that differs from that of the first
 *   one
 */
export function versionedDocuments(
  documents: readonly { readonly document: OpenApiDocument; readonly name: string | undefined }[],
): readonly VersionedDocument[] {
  const byText = new Map<string, VersionedDocument>();
  for (const { document, name } of documents) {
    const { label } = document;
    const version = versionOf(name ?? document.info.version, label, name !== undefined);
    const other = byText.get(version.text);
    if (other)
      throw new DocumentError(
        `${other.document.label} and ${label} have the same version ${version}: name them, as in 1.1=${other.document.label} 1.2=${label}`,
      );
    byText.set(version.text, { version, document });
  }
  const [first, ...others] = byText.values();
  const mismatch = others.find(({ version }) => version.scheme !== first?.version.scheme);
  if (first && mismatch)
    throw new DocumentError(
      `${first.document.label} has the version ${first.version} and ${mismatch.document.label} has ${mismatch.version}: these formats cannot be compared. Name the documents in one format, as in 1.1=FILE 1.2=FILE`,
    );
  return [...byText.values()].sort((a, b) => a.version.compare(b.version));
}
