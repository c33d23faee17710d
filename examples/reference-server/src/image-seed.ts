import { createHash } from 'node:crypto';
import { closeSync, createReadStream, existsSync, openSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { IMAGE_HEADER_BYTES, imageFormatOf } from '@apistrata/compute-engine/catalogs';
import type { ImageSeed } from '@apistrata/compute-engine/preset';
import { StartError } from './start-error.js';

/** The disk formats that `--image` accepts, as image services name them. */
const ACCEPTED_FORMATS = ['raw', 'qcow2', 'vmdk', 'vhdx', 'iso'] as const;

const PROPERTY_PATTERN = /^([A-Za-z0-9_:.-]{1,255})=(.*)$/s;

function readFormat(path: string): string {
  const file = openSync(path, 'r');
  try {
    const header = Buffer.alloc(IMAGE_HEADER_BYTES);
    readSync(file, header, 0, header.byteLength, 0);
    return imageFormatOf(header);
  } finally {
    closeSync(file);
  }
}

function hexDigest(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}

/** Returns the first half of an image id, which depends only on the name of the image and the path of its file. */
function idPrefixOf(name: string, path: string): string {
  const hex = hexDigest([name, path]);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-`;
}

/** Returns the second half of an image id, which changes if the file or its properties change. */
function idSuffixOf(state: readonly unknown[]): string {
  const hex = hexDigest(state);
  return `8${hex.slice(0, 3)}-${hex.slice(3, 15)}`;
}

/** Parses `[NAME=]FILE[,PROPERTY=VALUE...]`. If the whole text is the path of an existing file, that file is used. */
function parseImageOption(optionText: string): {
  readonly name: string;
  readonly file: string;
  readonly properties: [string, string][];
} {
  if (existsSync(optionText))
    return { name: basename(optionText, extname(optionText)), file: optionText, properties: [] };
  const [nameAndFile = '', ...rest] = optionText.split(',');
  const properties = rest.map((part): [string, string] => {
    const [, key, value] = PROPERTY_PATTERN.exec(part) ?? [];
    if (key === undefined || value === undefined)
      throw new StartError(`--image ${optionText}: ${JSON.stringify(part)} is not PROPERTY=VALUE`);
    return [key, value];
  });
  const [, name, file] = /^([^/=]{1,255})=(.+)$/s.exec(nameAndFile) ?? [];
  if (name === undefined || file === undefined || existsSync(nameAndFile))
    return { name: basename(nameAndFile, extname(nameAndFile)), file: nameAndFile, properties };
  return { name, file, properties };
}

/**
 * Returns the public image that `--image [NAME=]FILE[,PROPERTY=VALUE...]` adds. The default name is the file name without
 * its extension; the disk format is detected from the file's content. If the file or the properties have changed, the
 * image replaces the previous one, which is hidden but remains available to its servers.
 *
 * @throws StartError for a file that cannot be read or has a format that machines cannot use
 */
export function imageSeed(optionText: string): ImageSeed {
  const { name, file, properties } = parseImageOption(optionText);
  try {
    const path = realpathSync(file);
    const { size, mtimeMs } = statSync(path);
    const diskFormat = readFormat(path);
    if (!(ACCEPTED_FORMATS as readonly string[]).includes(diskFormat))
      throw new StartError(
        `--image ${optionText}: ${file} is a ${diskFormat} file. Convert it to one of ${ACCEPTED_FORMATS.join(', ')}`,
      );
    const idPrefix = idPrefixOf(name, path);
    return {
      id: `${idPrefix}${idSuffixOf([size, mtimeMs, properties])}`,
      replacesIdPrefix: idPrefix,
      name,
      diskFormat,
      properties: Object.fromEntries(properties),
      content: () => createReadStream(path, { highWaterMark: 2 ** 20 }),
    };
  } catch (error) {
    if (error instanceof StartError) throw error;
    throw new StartError(`--image ${optionText} cannot be read: ${(error as Error).message}`);
  }
}
