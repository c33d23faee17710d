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

/** The same as a clouds.yaml with two clouds: `test-cloud`, and `test-cloud-admin` with all rights. */
export function cloudsYaml(authUrl: string, password: string): string {
  const cloud = (name: string, user: string, project: string) =>
    [
      `  ${name}:`,
      '    auth:',
      `      auth_url: ${authUrl}`,
      `      username: ${user}`,
      `      password: ${password}`,
      `      project_name: ${project}`,
      '      user_domain_name: Default',
      '      project_domain_name: Default',
      `    region_name: ${REGION}`,
      '    identity_api_version: 3',
    ].join('\n');
  return `clouds:\n${cloud('test-cloud', 'demo', 'demo')}\n${cloud('test-cloud-admin', 'admin', 'demo')}\n`;
}
