/** An option: its type if it consists of basic types, and its default if it is a number or a boolean. */
interface Option {
  readonly name: string;
  readonly type: string | undefined;
  readonly default: string | undefined;
}

const BASIC_TYPE = /^(?:string|number|boolean|true|false|[\s|[\]()])+$/;

/** Returns the default in a text, without thousands separators: `true`, `0.95` or `128 MiB`. */
function defaultIn(text: string): string | undefined {
  return /^`?(true|false|-?\d[\d,]*(?:\.\d+)?(?: MiB)?)`?(?=$|[\s.,:;])/.exec(text)?.[1]?.replaceAll(',', '');
}

/** Returns the options that an interface in a source file declares. Defaults are in their docstrings, if they have one. */
export function declaredOptions(source: string, name: string): readonly Option[] {
  const [, body = ''] = new RegExp(`\\binterface ${name}\\b[^{]*\\{(.*?)\\n\\}`, 's').exec(source) ?? [];
  const members = body.matchAll(/(?:\/\*\*((?:(?!\*\/).)*)\*\/\s*)?^ {2}readonly (\w+)\??: ([^;]+);/gms);
  return [...members].map(([, docs = '', option = '', type = '']) => {
    const text = docs.replaceAll(/\s*\n\s*\*\s*/g, ' ');
    const basic = type.replaceAll('readonly ', '').trim();
    return {
      name: option,
      type: BASIC_TYPE.test(basic) ? basic : undefined,
      default: basic.endsWith('[]') ? undefined : defaultIn(/\bDefault:? (.*)$/s.exec(text)?.[1] ?? ''),
    };
  });
}

/** Returns the rows of the tables with the columns option, type and default in a document. */
function documentedOptions(text: string): readonly Option[] {
  return [...text.matchAll(/^\| `(\w+)` +\|((?:[^|\\\n]|\\.)*)\|((?:[^|\\\n]|\\.)*)\|/gm)].map(
    ([, name = '', type = '', value = '']) => ({
      name,
      type: type.trim().replaceAll('\\', '').replaceAll('`', ''),
      default: defaultIn(value.trim()),
    }),
  );
}

/**
 * Returns the options whose row in a README is missing, or differs from the source: types that consist of basic types,
 * and defaults that are numbers or booleans.
 */
export function wrongOptionRows(readme: string, source: string, interfaceName: string): readonly Option[] {
  const rows = documentedOptions(readme);
  const declared = declaredOptions(source, interfaceName);
  if (declared.length === 0) throw new Error(`${interfaceName} declares no options`);
  return declared.filter(
    (option) =>
      !rows.some(
        (row) =>
          row.name === option.name &&
          (option.type === undefined || row.type === option.type) &&
          (option.default === undefined || row.default === option.default),
      ),
  );
}
