import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { CloudResponse, CloudUnderTest } from './cloud-under-test.js';

const identity = (path: string) => `/identity/v3/${path}`;
export const network = (path: string) => `/network/v2.0/${path}`;
export const volume = (path: string) => `/volume/v3/${path}`;
export const images = (path = '') => `/image/v2/images${path}`;

type Send = (method: string, path: string, body?: object | string, headers?: object) => Promise<CloudResponse>;

/** Returns functions that create resources as the administrator. */
export async function servicesOf(cloud: CloudUnderTest) {
  const account = cloud.admin ?? expect.fail('no administrator');
  const { headers, body: session } = await cloud.logIn(account);
  const sendAs =
    (token: string): Send =>
    (method, path, body, headers) =>
      cloud.send(method.toLowerCase() as 'get', path, token, body, {
        ...(path.startsWith('/volume') && { 'OpenStack-API-Version': 'volume 3.70' }),
        ...headers,
      });
  const send = sendAs(headers['x-subject-token'] ?? '');
  const unlimited = { volumes: -1, gigabytes: -1, snapshots: -1, backups: -1 };
  await send('PUT', volume(`os-quota-sets/${session.token.project.id}`), { quota_set: unlimited });
  async function create(path: string, one: string, fields: object): Promise<any> {
    const { status, body } = await send('POST', path, one === '' ? fields : { [one]: fields });
    expect(status, JSON.stringify(body)).toBeLessThan(300);
    return one === '' ? body : body[one];
  }
  const newVolume = async () => (await create(volume('volumes'), 'volume', { size: 1 })).id;
  const newNetwork = async () => (await create(network('networks'), 'network', {})).id;
  const newPort = async (network_id?: string) =>
    (await create(network('ports'), 'port', { network_id: network_id ?? (await newNetwork()) })).id;
  const newTrunk = async () => (await create(network('trunks'), 'trunk', { port_id: await newPort() })).id;
  const newImage = async () => (await create(images(), '', { disk_format: 'raw', container_format: 'bare' })).id;
  /** Creates a project, and returns its id and a function that sends its administrator's requests. */
  async function newProject(): Promise<{ readonly project: string; readonly limited: Send }> {
    const name = randomUUID();
    const { id: project } = await create(identity('projects'), 'project', { name });
    const [role] = (await send('GET', identity('roles?name=admin'))).body.roles;
    await send('PUT', identity(`projects/${project}/users/${session.token.user.id}/roles/${role.id}`));
    return { project, limited: sendAs(await cloud.tokenOf({ ...account, project: name })) };
  }
  return { send, create, newVolume, newNetwork, newPort, newTrunk, newImage, newProject };
}

export type Services = Awaited<ReturnType<typeof servicesOf>>;
