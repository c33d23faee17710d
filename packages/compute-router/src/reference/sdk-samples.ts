/** The request that a code sample sends. */
export interface ComputeSampleRequest {
  readonly method: string;
  /** Path below the compute service endpoint, with example values for parameters. */
  readonly path: string;
  /** The JSON body; undefined if the request has none. */
  readonly body: unknown;
  readonly version: string;
  /** HTTP status of a successful response. */
  readonly status: number;
}

const indent = (text: string, indentation: string) => text.replaceAll('\n', `\n${indentation}`);

function pythonLiteral(value: unknown): string {
  const keywords: Readonly<Record<string, string>> = { true: 'True', false: 'False', null: 'None' };
  return JSON.stringify(value, null, 4).replace(
    /"(?:[^"\\]|\\.)*"|\b(?:true|false|null)\b/g,
    (text) => keywords[text] ?? text,
  );
}

function pythonSample({ method, path, body, version }: ComputeSampleRequest): string {
  return [
    'import openstack',
    '',
    "connection = openstack.connect(cloud='mycloud')",
    `response = connection.compute.${method.toLowerCase()}(`,
    `    '${path}',`,
    ...(body === undefined ? [] : [`    json=${indent(pythonLiteral(body), '    ')},`]),
    `    microversion='${version}',`,
    ')',
    'response.raise_for_status()',
    'print(response.text)',
  ].join('\n');
}

function goSample({ method, path, body, version, status }: ComputeSampleRequest): string {
  const verb = method.charAt(0) + method.slice(1).toLowerCase();
  const requestArguments = method === 'GET' || method === 'DELETE' ? [] : [body === undefined ? 'nil' : 'body'];
  const responseArguments = method === 'DELETE' ? [] : [status === 204 ? 'nil' : '&result'];
  const options = `&gophercloud.RequestOpts{OkCodes: []int{${status}}}`;
  return [
    '// client is the service client that openstack.NewComputeV2() returns.',
    `client.Microversion = "${version}"`,
    ...(body === undefined ? [] : [`body := json.RawMessage(\`${JSON.stringify(body, null, 2)}\`)`]),
    ...(responseArguments[0] === '&result' ? ['var result map[string]any'] : []),
    `url := client.ServiceURL(${path
      .slice(1)
      .split('/')
      .map((part) => JSON.stringify(part))
      .join(', ')})`,
    `_, err := client.${verb}(${['ctx', 'url', ...requestArguments, ...responseArguments].join(', ')},`,
    `\t${options})`,
  ].join('\n');
}

/** Code samples for the Python and Go SDKs, with their labels. */
export const sdkSamples: readonly {
  readonly label: string;
  readonly code: (request: ComputeSampleRequest) => string;
}[] = [
  { label: 'Python', code: pythonSample },
  { label: 'Go', code: goSample },
];
