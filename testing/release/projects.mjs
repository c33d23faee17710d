import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { servesCommonJs } from '../../scripts/manifests.mjs';
import { compiler, nodeFolder, runProgram } from './tools.mjs';
import { jestOf, programOf, uses } from './uses.mjs';

const FIVE_MINUTES = 300_000;
/** The newest Vitest does not run on older ones. */
const NODE_OF_NEWEST_VITEST = 22;

/** Runs the first example of a README: `readme` says what has to answer, see `uses`. */
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

/** What a README tells to install: the words after `npm install`. */
function toldToInstall(readme) {
  const [, words] = /npm install (?:--save-dev )?([^#\n]+)/.exec(block(readme, 'sh'));
  return words.trim().split(/\s+/);
}

/** What is installed in a project: what the README says and what the row of the matrix asks for. */
function wanted({ name, node, express, modules }, { readme, version }) {
  const told = toldToInstall(readme).filter((word) => word !== 'express');
  const packages = told.map((word) => (word.startsWith('@apistrata/') ? `${word}@${version}` : word));
  const types = [`@types/node@${node}`, ...(express === 'none' ? [] : [`@types/express@${express}`])];
  const { program, oldProgram } = uses[name].readme;
  const programs = program ? [node < NODE_OF_NEWEST_VITEST ? oldProgram : program] : [];
  if (modules === 'cjs' && servesCommonJs(`packages/${name}`)) programs.push('jest@30');
  return [...packages, ...types, ...(express === 'none' ? [] : [`express@${express}`]), ...programs];
}

/**
 * Makes an empty project, installs a package from the registry as its README says, and uses it: runs a program, compiles
 * it in strict TypeScript with every declaration checked, and compiles and runs the first example of the README.
 *
 * @param row name of the package, node, express (or `none`), manager, typescript, modules
 * @param place folder of the project, environment with the registry, version, the README, the manifest, path of pnpm
 * @throws with the output of what failed
 */
export async function tryOut(row, { folder, env: registry, version, readme, manifest, pnpm }) {
  const { name, node, express, manager, typescript, modules } = row;
  const use = uses[name];
  const env = { ...registry, PATH: [await nodeFolder(node), registry.PATH].join(delimiter) };
  const packages = wanted(row, { readme, version });
  const run = (program, ...args) => runProgram(program, args, { cwd: folder, env, timeout: FIVE_MINUTES });
  const expectOk = (what, output) => {
    if (!output.includes('status 200')) throw new Error(`${what} answered ${output}`);
  };

  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{ "private": true }');
  writeFileSync(join(folder, 'pnpm-workspace.yaml'), 'minimumReleaseAge: 0\n');
  if (manager === 'npm') run('npm', 'install', '--no-audit', '--no-fund', ...packages);
  else run(pnpm, 'add', ...packages);

  for (const [peer, { optional }] of Object.entries(manifest.peerDependenciesMeta ?? {})) {
    const asked = packages.some((item) => item.startsWith(peer));
    const there = existsSync(join(folder, 'node_modules', peer));
    if (optional && there && !asked) throw new Error(`${peer}, which is optional, was installed`);
  }

  const [script, source] = modules === 'esm' ? ['use.mjs', 'use.mts'] : ['use.cjs', 'use.cts'];
  writeFileSync(join(folder, script), programOf(use, { express, modules }));
  expectOk('the program', run('node', script));

  writeFileSync(join(folder, source), programOf(use, { express, modules, types: true }));
  const example = block(readme, 'ts');
  const strict = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node', '--outDir', 'out'];
  const shown = express !== 'none' || use.readme.value || use.readme.compiled;
  if (shown && !use.readme.program) writeFileSync(join(folder, 'readme.mts'), example);
  const sources = [source, ...(existsSync(join(folder, 'readme.mts')) ? ['readme.mts'] : [])];
  run(compiler(typescript), ...strict, ...sources);

  if (packages.includes('jest@30')) {
    // Projects that know nothing of ES modules: the oldest `module` with `exports`, and Jest without any option.
    run(compiler(typescript), ...strict, '--module', 'node16', source);
    writeFileSync(join(folder, 'use.test.js'), jestOf(use, { express }));
    run('node', join('node_modules', 'jest', 'bin', 'jest.js'), '--ci', 'use.test.js');
  }

  if (use.readme.program === 'vitest') {
    writeFileSync(join(folder, 'readme.test.ts'), example);
    run('node', join('node_modules', 'vitest', 'vitest.mjs'), 'run', 'readme.test.ts');
  } else if (shown && !use.readme.compiled) {
    writeFileSync(join(folder, 'run-readme.mjs'), README_RUNNER);
    expectOk('the first example of the README', run('node', 'run-readme.mjs', JSON.stringify(use.readme)));
  }
}
