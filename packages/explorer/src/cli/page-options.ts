import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { type DocumentedApi, documentedApi } from '../documents/documented-api.js';
import type { ExplorerOptions } from '../options.js';
import { checkTheme, LOGO_TYPES, type Logo, type ThemeColor, type ThemeColors } from '../theme.js';
import type { Command, PageAppearance } from './command.js';
import { CommandError } from './command-error.js';
import { loadApi } from './load-api.js';
import { readDocuments } from './read-documents.js';

async function readLogo(file: string): Promise<Logo> {
  const extension = extname(file).slice(1).toLowerCase().replace('jpeg', 'jpg');
  const type = Object.keys(LOGO_TYPES).find((each) => LOGO_TYPES[each] === extension);
  if (type === undefined)
    throw new CommandError(
      `--logo must be a file with one of the extensions ${Object.values(LOGO_TYPES).join(', ')}, not ${file}`,
    );
  try {
    return { type, content: await readFile(file) };
  } catch (error) {
    throw new CommandError(`Cannot read the logo ${file}: ${(error as Error).message}`);
  }
}

/** Parses colors such as `accent=#0b5fa5` and `accent=#0b5fa5/#7fbdf7`. */
function parseColors(texts: readonly string[]): ThemeColors {
  const entries = texts.map((text): [string, ThemeColor] => {
    const [, name, light, dark] = /^([\w-]+)=([^/]+)(?:\/([^/]+))?$/.exec(text) ?? [];
    if (name === undefined || light === undefined)
      throw new CommandError(`--color must be NAME=COLOR or NAME=LIGHT/DARK, not "${text}"`);
    return [name, dark === undefined ? light : { light, dark }];
  });
  return Object.fromEntries(entries);
}

async function readAppearance({
  title,
  server,
  logo,
  color,
  introduction,
  footer,
}: PageAppearance): Promise<Partial<ExplorerOptions>> {
  const texts = { ...(introduction !== undefined && { introduction }), ...(footer !== undefined && { footer }) };
  const colors = color && parseColors(color);
  try {
    checkTheme(colors, undefined);
  } catch (error) {
    throw new CommandError((error as Error).message.replace('explorer(): ', '--color: '));
  }
  return {
    ...(title !== undefined && { title }),
    ...(server !== undefined && { server }),
    ...(logo !== undefined && { logo: await readLogo(logo) }),
    ...(colors && { colors }),
    ...(Object.keys(texts).length > 0 && { texts }),
  };
}

/** Reads the OpenAPI documents that a command names. @throws DocumentError if one is invalid */
export async function readDocumentedApi(files: readonly string[]): Promise<DocumentedApi> {
  return documentedApi(await readDocuments(files));
}

/** Returns the page options for the documents or operations that the command names. */
export async function readPageOptions({ files, operations, appearance }: Command): Promise<ExplorerOptions> {
  const appearanceOptions = await readAppearance(appearance);
  if (files.length > 0) return { ...(await readDocumentedApi(files)), ...appearanceOptions };
  const api = await loadApi(operations);
  return { operations: api.operations, versions: api.versions.all, description: api.description, ...appearanceOptions };
}
