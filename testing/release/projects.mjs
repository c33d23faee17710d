import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pnpmFolder } from '../../scripts/tools.mjs';
import { cleanEnvironment } from './clean-environment.mjs';
import { showsReadme, usesCommonJsTools } from './matrix.mjs';
import { firstStatus } from './started.mjs';
import { compiler, nodeOf, runProgram, yarn } from './tools.mjs';
import { jestOf, programOf, uses } from './uses.mjs';

const FIVE_MINUTES = 300_000;

/** The last major version of TypeScript in which `moduleResolution: node10`, the default of `ts-node`, is not deprecated. */
const NODE10_TYPESCRIPT = 5;

/** Runs the first example of a README: `readme` is the expected response, see `uses`. */
const README_RUNNER = `
const { path, headers, value } = JSON.parse(process.argv[2]);
process.env.PORT = '0';
const example = await import('./out/readme.mjs');
if (value) {
  console.log('status ' + (example[value] ? 200 : 404));
} else {
  const { server } = example;
  if (!server.listening) await new Promise((resolve) => server.once('listening', resolve));
  const { status } = await fetch('http://127.0.0.1:' + server.address().port + path, { headers });
  console.log('status ' + status);
}
process.exit(0);
`;

/** The first block of a language in a README. */
function block(readme, language) {
  const [, text] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(readme) ?? [];
  if (!text) throw new Error(`the README shows no ${language}`);
  return text;
}

/** Returns the packages of an installation command in a README: the words after `npm install`. */
export function packagesOfReadme(readme) {
  const [, words] = /npm install (?:--save-dev )?([^#\n]+)/.exec(block(readme, 'sh'));
  return words.trim().split(/\s+/);
}

/** Returns the packages that the first example of a README imports, but its installation command does not list. */
export function packagesMissingInReadme(readme) {
  const modules = [...block(readme, 'ts').matchAll(/^(?:import|\}) .*?'([^'./][^']*)';$/gm)].map(([, name]) => name);
  const names = modules.filter((name) => !name.startsWith('node:'));
  const listed = packagesOfReadme(readme);
  return [...new Set(names.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)[0]))].filter(
    (name) => !listed.includes(name),
  );
}

/**
 * The packages to install in a project: exactly those that the README lists, with Express of the version of this row of
 * the matrix, or without it; the packages that the application already has; and the tools for the following tests.
 */
function packagesToInstall(row, { readme, version }) {
  const { name, node, express, manager } = row;
  const listed = uses[name].imports ? packagesOfReadme(readme) : [`@apistrata/${name}`];
  const ofRow = express === 'none' ? [] : [`express@${express}`];
  const packages = listed.flatMap((word) => {
    if (word === 'express') return ofRow;
    return word.startsWith('@apistrata/') ? [`${word}@${version}`] : [word];
  });
  const { program } = uses[name].readme ?? {};
  const tools = [
    `@types/node@${node}`,
    ...(express === 'none' ? [] : [`@types/express@${express}`]),
    ...(program ? [program] : []),
    // npm and pnpm install peers by themselves.
    ...(program === 'vitest' && manager === 'yarn' ? ['vite'] : []),
    ...(usesCommonJsTools(row) ? ['jest@30', 'ts-node@10', `typescript@${NODE10_TYPESCRIPT}`] : []),
  ];
  return { packages, existing: listed.includes('express') ? [] : ofRow, tools };
}

/** The command with which users of each package manager add packages. */
const MANAGERS = {
  npm: () => ['npm', 'install'],
  pnpm: async () => [join(await pnpmFolder(), 'pnpm'), 'add'],
  yarn: () => [yarn(), 'add'],
};

/** Settings of yarn 4 for a project with a local registry, as `npm_config_*` are for npm. */
const yarnSettings = (registry) => ({
  YARN_NPM_REGISTRY_SERVER: registry,
  YARN_UNSAFE_HTTP_WHITELIST: '127.0.0.1',
  YARN_NODE_LINKER: 'node-modules',
  YARN_NPM_MINIMAL_AGE_GATE: '0',
  YARN_ENABLE_TELEMETRY: '0',
  YARN_ENABLE_PROGRESS_BARS: 'false',
});

/** Warnings of a package manager that require an action of the user. */
const WARNING = /\bwarn(?:ing)?\b|\berr(?:or)?!?\b|ERR_|YN00(?:02|05|07|60|76|86)/i;

/** Adds packages to a project. @throws if the manager fails, or prints a warning */
async function add(packages, { manager, run, options = [] }) {
  const [program, ...args] = await MANAGERS[manager]();
  const output = run(program, ...args, ...options, ...packages);
  const warnings = output.split('\n').filter((line) => WARNING.test(line));
  if (warnings.length > 0) throw new Error(`${manager} warns: ${warnings[0]}`, { cause: output });
}

/**
 * Adds better-sqlite3 to a project as an application has it. Its install script, which version 12 needs for its binary,
 * does not run: the row tests the packages next to it.
 */
async function addSqlite(version, { manager, run }) {
  const options = manager === 'yarn' ? ['--mode=skip-build'] : ['--ignore-scripts'];
  const [program, ...args] = await MANAGERS[manager]();
  run(program, ...args, ...options, `better-sqlite3@${version}`);
}

/** Runs the command of a package in a project. @throws unless its first response is 200 */
async function tryCommand(command, { args, sign, path }, { folder, env }) {
  const program = join(folder, 'node_modules/.bin', command);
  const status = await firstStatus(program, args, { cwd: folder, env, sign, path });
  if (status !== 200) throw new Error(`${command} returned ${status}`);
}

/** Compiles a use of a package, and of a sub-path, with `moduleResolution: node10`, and runs it in `ts-node`. */
function useNode10({ name, express }, { folder, run, expectOk }) {
  const project = join(folder, 'node10');
  mkdirSync(project);
  const options = { module: 'commonjs', moduleResolution: 'node10', target: 'es2022', strict: true, types: ['node'] };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...options, noEmit: true } }));
  const entry = `import * as entry from '@apistrata/${name}/${uses[name].subPath}';\nvoid Object.keys(entry);`;
  const program = programOf(uses[name], { express, modules: 'cjs', types: true });
  writeFileSync(join(project, 'use.ts'), `${entry}\n${program}`);
  run(compiler(NODE10_TYPESCRIPT), '--project', project);
  expectOk('ts-node', run('node', join('node_modules', 'ts-node', 'dist', 'bin.js'), join('node10', 'use.ts')));
}

/**
 * Creates an empty project without any preparation, installs a package from the registry as its README says, and uses
 * it: runs a program, compiles it in strict TypeScript with every declaration checked, and compiles and runs the first
 * example of the README.
 *
 * @param row name of the package, node, express (or `none`), manager, typescript, modules, sqlite (version of better-sqlite3, or `none`)
 * @param place folder of the project, environment with the registry, version, the README, the manifest
 * @throws with the output of the failed command
 */
export async function tryOut(row, { folder, env: registry, version, readme, manifest }) {
  const { name, node, express, manager, typescript, modules, sqlite } = row;
  const use = uses[name];
  mkdirSync(folder, { recursive: true });
  const clean = cleanEnvironment(`${folder}-environment`, await nodeOf(node));
  const env = { ...registry, ...yarnSettings(registry.npm_config_registry), ...clean.env };
  const { packages, existing, tools } = packagesToInstall(row, { readme, version });
  const run = (program, ...args) => runProgram(program, args, { cwd: folder, env, timeout: FIVE_MINUTES });
  const expectOk = (what, output) => {
    if (!output.includes('status 200')) throw new Error(`${what} returned ${output}`);
  };

  writeFileSync(join(folder, 'package.json'), '{ "name": "project", "private": true }');
  // An application that uses better-sqlite3 12 or Jest has already decided whether their install scripts run.
  const pnpmSettings = [
    'minimumReleaseAge: 0',
    'allowBuilds:',
    '  better-sqlite3: false',
    '  "@parcel/watcher": false',
    '',
  ];
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), pnpmSettings.join('\n'));
  writeFileSync(join(folder, 'yarn.lock'), '');
  if (sqlite !== 'none') await addSqlite(sqlite, { manager, run });
  if (existing.length > 0) await add(existing, { manager, run });
  await add(packages, { manager, run });
  const called = [...clean.scripts(), ...clean.compilers()];
  if (called.length > 0 && !use.compiles) throw new Error(`the installation ran ${called[0]}`);

  for (const [peer, { optional }] of Object.entries(manifest.peerDependenciesMeta ?? {})) {
    const isNamed = packages.some((item) => item.startsWith(peer));
    const there = existsSync(join(folder, 'node_modules', peer));
    if (optional && there && !isNamed) throw new Error(`${peer}, which is optional, was installed`);
  }
  if (!use.imports) return tryCommand(Object.keys(manifest.bin)[0], use.npx, { folder, env });

  const [script, source] = modules === 'esm' ? ['use.mjs', 'use.mts'] : ['use.cjs', 'use.cts'];
  writeFileSync(join(folder, script), programOf(use, { express, modules }));
  expectOk('the program', run('node', script));
  const connection = use.sqlite?.({ sqlite, node });
  if (connection) {
    writeFileSync(join(folder, `sqlite-${script}`), programOf(connection, { express, modules }));
    expectOk('the program with SQLite', run('node', `sqlite-${script}`));
  }

  // The tools for the following tests of types and examples are not part of a user's installation.
  const [program, ...args] = await MANAGERS[manager]();
  run(program, ...args, ...tools);
  writeFileSync(join(folder, source), programOf(use, { express, modules, types: true }));
  const missing = packagesMissingInReadme(readme).filter((word) => word !== use.readme.program);
  if (missing.length > 0) throw new Error(`the installation in the README lacks ${missing.join(', ')}`);
  const example = block(readme, 'ts');
  const strict = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--outDir', 'out'];
  const shown = showsReadme(row);
  if (shown && !use.readme.program) writeFileSync(join(folder, 'readme.mts'), example);
  const sources = [source, ...(existsSync(join(folder, 'readme.mts')) ? ['readme.mts'] : [])];
  run(compiler(typescript), ...strict, ...sources);

  if (usesCommonJsTools(row)) {
    // Projects without support for ES modules: the oldest `module` with `exports`, and Jest without options.
    run(compiler(typescript), ...strict, '--module', 'node16', source);
    writeFileSync(join(folder, 'use.test.js'), jestOf(use, { express }));
    run('node', join('node_modules', 'jest', 'bin', 'jest.js'), '--ci', 'use.test.js');
    useNode10(row, { folder, run, expectOk });
  }

  if (use.readme.program === 'vitest') {
    writeFileSync(join(folder, 'readme.test.ts'), example);
    run('node', join('node_modules', 'vitest', 'vitest.mjs'), 'run', 'readme.test.ts');
  } else if (shown && !use.readme.compiled) {
    writeFileSync(join(folder, 'run-readme.mjs'), README_RUNNER);
    expectOk('the first example of the README', run('node', 'run-readme.mjs', JSON.stringify(use.readme)));
  }
}
