/** A request that code samples send. */
export interface SampleRequest {
  /** Name of the operation, such as `showServer`. */
  readonly name: string;
  readonly method: string;
  /** Base URL of the API. */
  readonly server: string;
  /** Path with example values, such as `/servers/5ca1ab1e-0000-4000-8000-000000000001`. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The body as a JSON value; undefined if the request has none. */
  readonly body: unknown;
  /** Media type of the body, such as `application/json`. */
  readonly mediaType: string;
  /** Version of the API. */
  readonly version: string;
  /** Status of a successful response. */
  readonly status: number;
}

/** A code sample that sends a request, in one language or with one tool. */
export interface CodeSample {
  /** Name of the language or the tool. */
  readonly label: string;
  /** Returns the sample's code; undefined if the operation has none. */
  readonly code: (request: SampleRequest) => string | undefined;
}

/** Returns whether bodies of a media type are JSON. */
export function isJson(mediaType: string): boolean {
  return /[/+]json\b/.test(mediaType);
}

/** Returns the body as text: JSON, or form-encoded with brackets for nested fields. */
function bodyText({ body, mediaType }: SampleRequest): string {
  if (isJson(mediaType)) return JSON.stringify(body, null, 2);
  const fields = new URLSearchParams();
  const addField = (name: string, value: unknown) => {
    if (typeof value !== 'object' || value === null) fields.append(name, String(value ?? ''));
    else
      for (const [key, inner] of Object.entries(value))
        addField(Array.isArray(value) ? `${name}[]` : `${name}[${key}]`, inner);
  };
  for (const [name, value] of Object.entries((body ?? {}) as object)) addField(name, value);
  return String(fields);
}

const quoteForShell = (text: string) => (/^[\w./:@-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
const indentLines = (text: string, by: string) => text.replaceAll('\n', `\n${by}`);

/** Formats a JSON value as a Python literal. */
export function pythonLiteral(value: unknown): string {
  const keywords: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
  return JSON.stringify(value, null, 4).replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (text) => keywords[text] ?? text,
  );
}

/** Samples that require no API client library. */
const BUILT_IN_SAMPLES: readonly CodeSample[] = [
  {
    label: 'curl',
    code: (request) => {
      const { method, server, path, headers, body, mediaType } = request;
      return [
        `curl ${method === 'GET' ? '' : `-X ${method} `}${quoteForShell(server + path)}`,
        ...Object.entries(headers).map(([name, value]) => `-H ${quoteForShell(`${name}: ${value}`)}`),
        ...(body === undefined
          ? []
          : [`-H ${quoteForShell(`Content-Type: ${mediaType}`)}`, `-d ${quoteForShell(bodyText(request))}`]),
      ].join(' \\\n  ');
    },
  },
  {
    label: 'JavaScript',
    code: (request) => {
      const { method, server, path, headers, body, mediaType } = request;
      const sentHeaders = body === undefined ? headers : { ...headers, 'Content-Type': mediaType };
      const content = isJson(mediaType)
        ? `JSON.stringify(${indentLines(JSON.stringify(body, null, 2) ?? '', '  ')})`
        : `'${bodyText(request)}'`;
      const lines = [
        ...(method === 'GET' ? [] : [`method: '${method}',`]),
        `headers: ${indentLines(JSON.stringify(sentHeaders, null, 2), '  ')},`,
        ...(body === undefined ? [] : [`body: ${content},`]),
      ];
      return `const response = await fetch(\n  '${server}${path}',\n  {\n    ${lines.map((line) => indentLines(line, '  ')).join('\n    ')}\n  },\n);\nconsole.log(response.status, await response.text());`;
    },
  },
  {
    label: 'Python',
    code: (request) => {
      const { method, server, path, headers, body, mediaType } = request;
      const sentHeaders = body === undefined || isJson(mediaType) ? headers : { ...headers, 'Content-Type': mediaType };
      const content = isJson(mediaType)
        ? `json=${indentLines(pythonLiteral(body ?? null), '    ')}`
        : `data='${bodyText(request)}'`;
      return [
        'import requests',
        '',
        `response = requests.${method.toLowerCase()}(`,
        `    '${server}${path}',`,
        `    headers=${indentLines(pythonLiteral(sentHeaders), '    ')},`,
        ...(body === undefined ? [] : [`    ${content},`]),
        ')',
        'print(response.status_code, response.text)',
      ].join('\n');
    },
  },
  {
    label: 'Go',
    code: (request) => {
      const { method, server, path, headers, body, mediaType } = request;
      return [
        ...(body === undefined ? [] : [`body := strings.NewReader(\`${bodyText(request)}\`)`]),
        `req, err := http.NewRequest("${method}",`,
        `\t"${server}${path}", ${body === undefined ? 'nil' : 'body'})`,
        'if err != nil {',
        '\tlog.Fatal(err)',
        '}',
        ...Object.entries(headers).map(
          ([name, value]) => `req.Header.Set(${JSON.stringify(name)}, ${JSON.stringify(value)})`,
        ),
        ...(body === undefined ? [] : [`req.Header.Set("Content-Type", ${JSON.stringify(mediaType)})`]),
        'res, err := http.DefaultClient.Do(req)',
      ].join('\n');
    },
  },
];

/**
 * Creates a code sample that shows a command line. The command lines, keyed by operation name, can contain placeholders
 * such as `{version}` and `{id}`.
 */
function createCommandSample(commands: Readonly<Record<string, string>>): CodeSample {
  return {
    label: 'Command line',
    code: ({ name, version }) =>
      commands[name]?.replace(/\{([^}]+)\}/g, (_, part: string) => (part === 'version' ? version : part.toUpperCase())),
  };
}

/** Returns each sample's code for a request. Omits samples that do not support the operation. */
export function createCodeSamples(
  request: SampleRequest,
  customSamples: readonly CodeSample[] = [],
  commands: Readonly<Record<string, string>> = {},
): readonly { readonly label: string; readonly code: string }[] {
  const builtInSamples = BUILT_IN_SAMPLES.map(
    (sample) => customSamples.find(({ label }) => label === sample.label) ?? sample,
  );
  const additionalSamples = customSamples.filter(
    ({ label }) => !BUILT_IN_SAMPLES.some((sample) => sample.label === label),
  );
  return [...builtInSamples, ...additionalSamples, createCommandSample(commands)].flatMap(({ label, code }) => {
    const text = code(request);
    return text === undefined ? [] : [{ label, code: text }];
  });
}
