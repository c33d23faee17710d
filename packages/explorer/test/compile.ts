import ts from 'typescript';

/** Returns the errors that the compiler reports in strict mode for files and their imports. Empty if there are none. */
export function compile(files: readonly string[], options: ts.CompilerOptions = {}): readonly string[] {
  const program = ts.createProgram([...files], {
    strict: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
    skipLibCheck: true,
    ...options,
  });
  const found = [...ts.getPreEmitDiagnostics(program)];
  if (!options.noEmit) found.push(...program.emit().diagnostics);
  return found.map(({ file, start, messageText }) => {
    const place = file && `${file.fileName}:${file.getLineAndCharacterOfPosition(start ?? 0).line + 1} `;
    return `${place ?? ''}${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
  });
}
