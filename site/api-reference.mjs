// Writes the API reference: one page for each entry point of the published packages, with every public name, from its docstring.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Application, Converter } from 'typedoc';
import { load as markdown } from 'typedoc-plugin-markdown';
import { publishedFolders } from '../scripts/manifests.mjs';
import { ROOT } from './links.mjs';

/** Entry points of the libraries: the name that programs import, and the source. */
const entryPoints = publishedFolders()
  .filter((folder) => folder.startsWith('packages/'))
  .flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'));
    return Object.entries(exports).flatMap(([path, entry]) => {
      const source = entry['@apistrata/source'];
      return source ? [{ name: join(name, path), source: join(ROOT, folder, source) }] : [];
    });
  });

/** The folder of the pages. */
export const API_REFERENCE = 'reference/api';

/** Names the modules as programs import them, and the files of their pages accordingly. */
function nameModules(app) {
  app.converter.on(Converter.EVENT_RESOLVE_END, ({ project }) => {
    for (const module of project.children ?? []) {
      const file = module.sources?.[0]?.fullFileName;
      const entry = entryPoints.find(({ source }) => source === file);
      if (entry) module.name = entry.name;
    }
    // Links to the source code would double the size of the pages.
    for (const reflection of Object.values(project.reflections)) delete reflection.sources;
  });
}

/**
 * Turns headings inside a name's description (Parameters, Returns, fields of nested objects) into bold text: headings
 * would appear in search results, and their anchors could be confused with those of exported names.
 */
function withPlainSubheadings(markdown) {
  let constructors = 0;
  // Headings of members move up one level; the headings above them become bold text.
  return markdown.replace(/^#####(?= .*\{#)/gm, '####').replace(/^#{4,} ((?!.*\{#).*)$/gm, (_heading, text) => {
    // Of the headings that become bold text, links refer only to `Constructor`, whose anchors are numbered in order.
    if (text !== 'Constructor') return `**${text}**`;
    const anchor = constructors === 0 ? 'constructor' : `constructor-${constructors}`;
    constructors++;
    return `<a id="${anchor}"></a>**${text}**`;
  });
}

/**
 * Writes the pages into a folder.
 * @param navigation the file that receives the titles and paths of the pages
 * @throws Error if the sources cannot be read
 */
export async function writeApiReference(folder, navigation) {
  const app = await Application.bootstrapWithPlugins({
    plugin: [markdown],
    entryPoints: entryPoints.map(({ source }) => source),
    tsconfig: join(ROOT, 'site/tsconfig.json'),
    skipErrorChecking: true,
    readme: 'none',
    name: 'API reference',
    excludeInternal: true,
    excludeExternals: true,
    excludeScopesInPaths: true,
    navigationJson: navigation,
    tableColumnSettings: { hideModifiers: true, hideSources: true, hideOverrides: true, hideInherited: true },
    logLevel: 'Error',
    outputs: [{ name: 'markdown', path: folder }],
    outputFileStrategy: 'modules',
    useCustomAnchors: true,
    useHTMLEncodedBrackets: true,
    entryFileName: 'index',
    hideBreadcrumbs: true,
    hidePageHeader: true,
    useCodeBlocks: true,
    parametersFormat: 'table',
    interfacePropertiesFormat: 'table',
    classPropertiesFormat: 'table',
    typeAliasPropertiesFormat: 'table',
    sanitizeComments: true,
  });
  nameModules(app);
  const project = await app.convert();
  if (!project) throw new Error('The sources could not be read');
  await app.generateOutputs(project);
  for (const file of readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.md'))) {
    writeFileSync(join(folder, file), withPlainSubheadings(readFileSync(join(folder, file), 'utf8')));
  }
}
