import type { TestCloud } from '../../src/index.js';
import { clientOf, cloudUnderTest } from '../clouds.js';

export const at = (path: string) => `/identity/v3/${path}`;
export const demo = { project: { name: 'demo', domain: { id: 'default' } } };
export const passwordOf = (name: string) => ({
  methods: ['password'],
  password: { user: { name, domain: { id: 'default' }, password: 'secret' } },
});
export const forbiddenTo = (action: string) => ({
  status: 403,
  body: { error: { code: 403, message: `You are not authorized to perform the requested action: ${action}.` } },
});

export async function logIn(cloud: TestCloud, identity: object, scope?: unknown) {
  const response = await clientOf(cloud, '')('POST', at('auth/tokens'), { auth: { identity, scope } });
  return { ...response, token: response.headers.get('x-subject-token') ?? '' };
}

export async function cloudWithUser() {
  const cloud = await cloudUnderTest();
  const login = await logIn(cloud, passwordOf('demo'), demo);
  const { user, project } = login.body.token;
  return { cloud, admin: clientOf(cloud), request: clientOf(cloud, login.token), user, project, token: login.token };
}
