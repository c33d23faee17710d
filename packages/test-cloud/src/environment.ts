import { shellWord } from './shell-word.js';

/** The credentials with which a client authenticates. */
export interface Login {
  /** Default `admin`. */
  readonly user?: string;
  /** Default `demo`. */
  readonly project?: string;
}

const REGION = 'RegionOne';

/** Returns the environment variables from which command-line clients and SDKs read their settings. */
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

/** The environment variables that {@link environment} returns. */
export type Environment = ReturnType<typeof environment>;

/** Quotes a string so that YAML and JSON parsers read the same value. */
const quoteYaml = (text: string) =>
  /^[A-Za-z][\w .:/-]*$/.test(text) && !/: /.test(text) ? text : JSON.stringify(text);

function formatYamlCloud(name: string, env: Environment): string {
  return [
    `  ${name}:`,
    '    auth:',
    `      auth_url: ${env.OS_AUTH_URL}`,
    `      username: ${quoteYaml(env.OS_USERNAME)}`,
    `      password: ${quoteYaml(env.OS_PASSWORD)}`,
    `      project_name: ${quoteYaml(env.OS_PROJECT_NAME)}`,
    `      user_domain_name: ${env.OS_USER_DOMAIN_NAME}`,
    `      project_domain_name: ${env.OS_PROJECT_DOMAIN_NAME}`,
    `    region_name: ${env.OS_REGION_NAME}`,
    '    identity_api_version: 3',
    '',
  ].join('\n');
}

/**
 * Returns a clouds.yaml with two clouds: `test-cloud` with the given credentials, and `test-cloud-admin` for an
 * administrator.
 */
export function formatCloudsYaml(authUrl: string, password: string, login: Login = { user: 'demo' }): string {
  const memberCloud = formatYamlCloud('test-cloud', environment(authUrl, password, login));
  return `clouds:\n${memberCloud}${formatYamlCloud('test-cloud-admin', environment(authUrl, password))}`;
}

/** Quotes a string for HCL, in which `${` and `%{` start templates. */
const quoteHcl = (text: string) => JSON.stringify(text).replaceAll(/[$%]\{/g, (mark) => `${mark[0]}${mark}`);

function formatTerraformBlock(env: Environment): string {
  return `terraform {
  required_providers {
    openstack = {
      source = "terraform-provider-openstack/openstack"
    }
  }
}

provider "openstack" {
  auth_url            = ${quoteHcl(env.OS_AUTH_URL)}
  user_name           = ${quoteHcl(env.OS_USERNAME)}
  password            = ${quoteHcl(env.OS_PASSWORD)}
  tenant_name         = ${quoteHcl(env.OS_PROJECT_NAME)}
  user_domain_name    = ${quoteHcl(env.OS_USER_DOMAIN_NAME)}
  project_domain_name = ${quoteHcl(env.OS_PROJECT_DOMAIN_NAME)}
  region              = ${quoteHcl(env.OS_REGION_NAME)}
}
`;
}

/** The functions that format client settings, by format. */
export const SETTINGS_FORMATS = {
  env: (env: Environment) =>
    Object.entries(env)
      .map(([name, value]) => `export ${name}=${shellWord(value)}\n`)
      .join(''),
  'clouds.yaml': (env: Environment) =>
    formatCloudsYaml(env.OS_AUTH_URL, env.OS_PASSWORD, { user: env.OS_USERNAME, project: env.OS_PROJECT_NAME }),
  terraform: formatTerraformBlock,
} as const;

/** The name of a format for client settings. */
export type SettingsFormat = keyof typeof SETTINGS_FORMATS;
