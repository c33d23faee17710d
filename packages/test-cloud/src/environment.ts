import { shellWord } from './shell-word.js';

/** Whom a client of the cloud logs in as. */
export interface Login {
  /** Default `admin`. */
  readonly user?: string;
  /** Default `demo`. */
  readonly project?: string;
}

const REGION = 'RegionOne';

/** The environment that command-line clients and SDKs read. */
export function environment(authUrl: string, password: string, { user = 'admin', project = 'demo' }: Login = {}) {
  return {
    OS_AUTH_TYPE: 'password',
    OS_AUTH_URL: authUrl,
    OS_USERNAME: user,
    OS_PASSWORD: password,
    OS_PROJECT_NAME: project,
    OS_USER_DOMAIN_NAME: 'Default',
    OS_PROJECT_DOMAIN_NAME: 'Default',
    OS_REGION_NAME: REGION,
    OS_IDENTITY_API_VERSION: '3',
  } as const;
}

/** What {@link environment} gives. */
export type Environment = ReturnType<typeof environment>;

/** Text that YAML and JSON both read as itself. */
const yamlWord = (text: string) =>
  /^[A-Za-z][\w .:/-]*$/.test(text) && !/: /.test(text) ? text : JSON.stringify(text);

function yamlCloud(name: string, env: Environment): string {
  return [
    `  ${name}:`,
    '    auth:',
    `      auth_url: ${env.OS_AUTH_URL}`,
    `      username: ${yamlWord(env.OS_USERNAME)}`,
    `      password: ${yamlWord(env.OS_PASSWORD)}`,
    `      project_name: ${yamlWord(env.OS_PROJECT_NAME)}`,
    `      user_domain_name: ${env.OS_USER_DOMAIN_NAME}`,
    `      project_domain_name: ${env.OS_PROJECT_DOMAIN_NAME}`,
    `    region_name: ${env.OS_REGION_NAME}`,
    '    identity_api_version: 3',
    '',
  ].join('\n');
}

/** The same as a clouds.yaml with two clouds: `test-cloud`, and `test-cloud-admin` with all rights. */
export function cloudsYaml(authUrl: string, password: string, login: Login = { user: 'demo' }): string {
  const member = yamlCloud('test-cloud', environment(authUrl, password, login));
  return `clouds:\n${member}${yamlCloud('test-cloud-admin', environment(authUrl, password))}`;
}

/** Text in HCL, where `${` and `%{` begin templates. */
const hclText = (text: string) => JSON.stringify(text).replaceAll(/[$%]\{/g, (mark) => `${mark[0]}${mark}`);

function terraformBlock(env: Environment): string {
  return `terraform {
  required_providers {
    openstack = {
      source = "terraform-provider-openstack/openstack"
    }
  }
}

provider "openstack" {
  auth_url            = ${hclText(env.OS_AUTH_URL)}
  user_name           = ${hclText(env.OS_USERNAME)}
  password            = ${hclText(env.OS_PASSWORD)}
  tenant_name         = ${hclText(env.OS_PROJECT_NAME)}
  user_domain_name    = ${hclText(env.OS_USER_DOMAIN_NAME)}
  project_domain_name = ${hclText(env.OS_PROJECT_DOMAIN_NAME)}
  region              = ${hclText(env.OS_REGION_NAME)}
}
`;
}

/** How clients are told where the cloud is and who they are. */
export const PRINTS = {
  env: (env: Environment) =>
    Object.entries(env)
      .map(([name, value]) => `export ${name}=${shellWord(value)}\n`)
      .join(''),
  'clouds.yaml': (env: Environment) =>
    cloudsYaml(env.OS_AUTH_URL, env.OS_PASSWORD, { user: env.OS_USERNAME, project: env.OS_PROJECT_NAME }),
  terraform: terraformBlock,
} as const;

/** A way to print it: `env`, `clouds.yaml` or `terraform`. */
export type Print = keyof typeof PRINTS;
