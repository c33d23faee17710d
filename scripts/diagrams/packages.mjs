// Draws the packages and their imports from the manifests, as SVG for light and dark pages.
import { manifestOf, publishedFolders } from '../manifests.mjs';
import { svg, text } from './svg.mjs';

const BOX_SIZE = { width: 148, height: 34 };
const BOX_GAP = { x: 16, y: 52 };

const nameOf = (folder) => folder.split('/')[1];

/** Returns the packages that each package imports, including optional peers, by name. */
function importsOfPackages() {
  const folders = publishedFolders().filter((folder) => folder.startsWith('packages/'));
  const names = new Set(folders.map(nameOf));
  return new Map(
    folders.map((folder) => {
      const { dependencies, peerDependencies, devDependencies, exports: _, ...manifest } = manifestOf(folder);
      const bundled = manifest.name === '@apistrata/test-cloud' ? devDependencies : {};
      const all = Object.keys({ ...dependencies, ...peerDependencies, ...bundled });
      const own = all.filter((name) => name.startsWith('@apistrata/')).map((name) => name.replace('@apistrata/', ''));
      return [nameOf(folder), own.filter((name) => names.has(name))];
    }),
  );
}

/** Returns the packages in rows, so that each package is above all packages that it imports. */
function rowsOf(imports) {
  const depths = new Map();
  const depthOf = (name) => {
    if (!depths.has(name)) depths.set(name, Math.max(-1, ...imports.get(name).map(depthOf)) + 1);
    return depths.get(name);
  };
  const rows = [];
  for (const name of imports.keys()) {
    const depth = depthOf(name);
    rows[depth] = [...(rows[depth] ?? []), name];
  }
  return rows.reverse();
}

/** Returns the imports that no other import implies, so that fewer lines are drawn. */
function withoutImpliedImports(imports) {
  const reaches = (from, to) => imports.get(from).some((name) => name === to || reaches(name, to));
  return [...imports].flatMap(([from, names]) =>
    names.filter((to) => !names.some((other) => other !== to && reaches(other, to))).map((to) => ({ from, to })),
  );
}

/** Returns the diagram as SVG. */
export function packageDiagram() {
  const imports = importsOfPackages();
  const rows = rowsOf(imports);
  const widthOf = (row) => row.length * (BOX_SIZE.width + BOX_GAP.x) - BOX_GAP.x;
  const width = Math.max(...rows.map(widthOf));
  const height = rows.length * (BOX_SIZE.height + BOX_GAP.y) - BOX_GAP.y;
  const positions = new Map(
    rows.flatMap((row, y) =>
      row.map((name, x) => [
        name,
        { x: (width - widthOf(row)) / 2 + x * (BOX_SIZE.width + BOX_GAP.x), y: y * (BOX_SIZE.height + BOX_GAP.y) },
      ]),
    ),
  );
  const lines = withoutImpliedImports(imports).map(({ from, to }) => {
    const [a, b] = [positions.get(from), positions.get(to)];
    const [x1, y1, x2, y2] = [a.x + BOX_SIZE.width / 2, a.y + BOX_SIZE.height, b.x + BOX_SIZE.width / 2, b.y];
    return `<path class="way" d="M${x1} ${y1}C${x1} ${y1 + BOX_GAP.y / 2} ${x2} ${y2 - BOX_GAP.y / 2} ${x2} ${y2}"/>`;
  });
  const boxes = [...positions].map(([name, { x, y }]) => {
    const rect = `<rect class="box" x="${x}" y="${y}" width="${BOX_SIZE.width}" height="${BOX_SIZE.height}" rx="6"/>`;
    return rect + text(x + BOX_SIZE.width / 2, y + BOX_SIZE.height / 2 + 4.5, name, 'middle');
  });
  return svg(width, height, 'Packages and their imports', [...lines, ...boxes], 14);
}
