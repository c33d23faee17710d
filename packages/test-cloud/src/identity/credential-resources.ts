import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Call } from '../service/call.js';
import type { Doc } from '../service/documents.js';
import { derived, required, settable } from '../service/field.js';
import type { ResourceSpec } from '../service/resource.js';
import { created, del, get, noContent, post, type Route } from '../service/route.js';
import { badRequest, notFound } from '../service/service-error.js';
import type { Wire } from '../service/wire.js';
import { anyId } from '../service/wire-types.js';
import { authorize, isAuthorized } from './authorize.js';
import { checkProjectOfSecret, hasDelegatedToken, rejectApplicationCredentials } from './delegation.js';
import { listOf } from './identity-style.js';
import { newId } from './new-id.js';

const credentialTable = ({ cloud }: Call) => cloud.documents.table<Doc>('identity/credentials');
const credentialIdOf = (access: string) => createHash('sha256').update(access).digest('hex');

const OTHER_PROJECT_MESSAGE = 'Credential project does not match the project scope of the delegated token';
const OTHER_EC2_PROJECT_MESSAGE = 'EC2 credential project does not match the project scope of the delegated token';

/** Returns the credential that contains an EC2 access key, or undefined. */
export function findCredentialByKey(call: Call, access: string): Doc | undefined {
  const credential = credentialTable(call).get(credentialIdOf(access));
  return credential?.type === 'ec2' ? credential : undefined;
}

/** Credentials that users store in the identity service. */
const credentials: ResourceSpec = {
  path: 'credentials',
  one: 'credential',
  many: 'credentials',
  filters: ['user_id', 'type'],
  lists: (call, { user_id, project_id }) =>
    isAuthorized(call, 'get_credential', { owner: user_id }) &&
    (!hasDelegatedToken(call) || project_id === call.caller.projectId),
  shows(call, { project_id }) {
    checkProjectOfSecret(call, project_id, OTHER_PROJECT_MESSAGE);
    return {};
  },
  fields: () => ({
    id: derived(),
    blob: required(settable(z.string())),
    type: required(settable(z.string())),
    user_id: required(settable(z.string())),
    project_id: settable(z.string().nullable(), null),
  }),
  creating(call, { type, blob, project_id }) {
    checkProjectOfSecret(call, project_id, OTHER_PROJECT_MESSAGE);
    if (type === 'ec2') rejectApplicationCredentials(call, 'additional credentials');
    if (type !== 'ec2') return undefined;
    if (project_id == null) throw badRequest("'project_id' is a required property");
    return { id: credentialIdOf(accessKeyOf(blob)) };
  },
  changing(call, before, change) {
    checkProjectOfSecret(call, before.project_id, OTHER_PROJECT_MESSAGE);
    if (change.project_id !== undefined) checkProjectOfSecret(call, change.project_id, OTHER_PROJECT_MESSAGE);
    if (change.user_id !== undefined) authorize(call, 'update_credential', { owner: change.user_id });
    if (before.type === 'ec2' && change.blob !== undefined) accessKeyOf(change.blob);
    return undefined;
  },
  removing: (call, { project_id }) => checkProjectOfSecret(call, project_id, OTHER_PROJECT_MESSAGE),
};

const missingProperty = (what: string) =>
  badRequest(
    `Expecting to find ${what} in credential. The server could not comply with the request since it is either malformed or otherwise incorrect. The client is assumed to be in error.`,
  );

/** Returns the access key in a credential's blob. Throws a 400 error if the blob does not contain an access key. */
function accessKeyOf(blob: unknown): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(String(blob));
  } catch {
    throw badRequest('Invalid blob in credential');
  }
  if (typeof parsed !== 'object' || !parsed || Array.isArray(parsed)) throw missingProperty('blob');
  const { access } = parsed as { readonly access?: unknown };
  if (access == null) throw missingProperty('access');
  return String(access);
}

/**
 * Returns the routes for the EC2 access keys of clients that do not support tokens. Keys are stored as `ec2`
 * credentials.
 */
function ec2Routes(): readonly Route[] {
  const path = '/v3/users/:user_id/credentials/OS-EC2';

  /** Returns the user ID in the path. Throws a 404 error if this user does not exist. */
  function requireUserId(call: Call): string {
    const id = call.param('user_id');
    if (!call.cloud.directory.state.users.has(id)) throw notFound(`Could not find user: ${id}.`);
    return id;
  }

  function credentialView(call: Call, { user_id, project_id, blob }: Doc): Wire {
    const { access, secret } = JSON.parse(String(blob)) as Record<string, string>;
    const links = { self: `${call.base}/v3/users/${user_id}/credentials/OS-EC2/${access}` };
    return { user_id, tenant_id: project_id, access, secret, trust_id: null, links };
  }

  /**
   * Returns the credential in the path. As in Keystone, callers without permission learn whether it exists, and its owner
   * may differ from the user in the path.
   */
  function findCredential(call: Call, action: 'ec2_get_credential' | 'ec2_delete_credential'): Doc {
    const credential = findCredentialByKey(call, call.param('access'));
    if (!credential) throw notFound(`Could not find credential: ${call.param('access')}.`);
    authorize(call, action, { owner: credential.user_id });
    requireUserId(call);
    checkProjectOfSecret(call, credential.project_id, OTHER_EC2_PROJECT_MESSAGE);
    return credential;
  }

  return [
    get(path, (call) => {
      authorize(call, 'ec2_list_credentials', { owner: call.param('user_id') });
      const userId = requireUserId(call);
      const ownCredentials = [...credentialTable(call).values()].filter(
        ({ type, user_id, project_id }) =>
          type === 'ec2' && user_id === userId && (!hasDelegatedToken(call) || project_id === call.caller.projectId),
      );
      return listOf(
        'credentials',
        call,
        ownCredentials.map((credential) => credentialView(call, credential)),
      );
    }),
    post(path, (call) => {
      authorize(call, 'ec2_create_credential', { owner: call.param('user_id') });
      rejectApplicationCredentials(call, 'additional application credentials');
      const user_id = requireUserId(call);
      const { tenant_id } = call.body(z.object({ tenant_id: anyId }));
      if (!call.cloud.directory.state.projects.has(tenant_id)) throw notFound(`Could not find project: ${tenant_id}.`);
      checkProjectOfSecret(call, tenant_id, OTHER_EC2_PROJECT_MESSAGE);
      const access = newId();
      const blob = JSON.stringify({ access, secret: newId(), trust_id: null });
      const credential = { id: credentialIdOf(access), user_id, project_id: tenant_id, type: 'ec2', blob };
      credentialTable(call).set(credential.id, credential);
      return created({ credential: credentialView(call, credential) });
    }),
    get(`${path}/:access`, (call) => ({
      credential: credentialView(call, findCredential(call, 'ec2_get_credential')),
    })),
    del(`${path}/:access`, (call) => {
      credentialTable(call).delete(findCredential(call, 'ec2_delete_credential').id);
      return noContent();
    }),
  ];
}

/** The credential resource, with additional routes for EC2 access keys. */
export const credentialResources: readonly ResourceSpec[] = [{ ...credentials, routes: ec2Routes }];
