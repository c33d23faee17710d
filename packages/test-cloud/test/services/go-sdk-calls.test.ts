import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clientOf, cloudUnderTest, serverBody } from '../clouds.js';

/** Calls of the Go SDK's acceptance tests that other tests do not cover. */
describe('the cloud, for calls of the Go SDK,', () => {
  it('stores federation mappings', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const path = '/identity/v3/OS-FEDERATION/mappings';
    const rules = [{ local: [{ user: { name: '{0}' } }], remote: [{ type: 'UserName' }] }];
    const created = await request('PUT', `${path}/staff`, { mapping: { rules } });
    expect(created).toMatchObject({ status: 201, body: { mapping: { id: 'staff', rules, schema_version: '1.0' } } });
    expect((await request('PUT', `${path}/staff`, { mapping: { rules } })).status).toBe(409);
    expect((await request('GET', path)).body.mappings).toMatchObject([
      { id: 'staff', links: { self: expect.any(String) } },
    ]);
    const other = [{ local: [{ group: { id: 'g' } }], remote: [{ type: 'orgPersonType', any_one_of: ['Guest'] }] }];
    expect((await request('PATCH', `${path}/staff`, { mapping: { rules: other } })).body.mapping.rules).toEqual(other);
    expect((await request('GET', `${path}/staff`)).body.mapping.rules).toEqual(other);
    expect((await request('PUT', `${path}/bad`, { mapping: { rules: [{ local: [] }] } })).status).toBe(400);
    expect((await request('POST', path, { mapping: { rules } })).status).toBe(405);
    expect((await clientOf(cloud, cloud.token('ada', 'lab'))('GET', path)).status).toBe(403);
    expect((await request('DELETE', `${path}/staff`)).status).toBe(204);
    expect((await request('GET', `${path}/staff`)).status).toBe(404);
  });

  it('accepts a signature with the secret of a credential', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const { token } = (
      await request('GET', '/identity/v3/auth/tokens', undefined, { 'X-Subject-Token': cloud.token() })
    ).body;
    const blob = JSON.stringify({ access: 'key', secret: 'hush' });
    const owner = { project_id: token.project.id, user_id: token.user.id };
    await request('POST', '/identity/v3/credentials', { credential: { type: 'ec2', blob, ...owner } });
    const validate = async (text: string, signature: string, access = 'key') =>
      request('POST', '/identity/v3/s3tokens', {
        credentials: { access, signature, token: Buffer.from(text).toString('base64url') },
      });
    const older = createHmac('sha1', 'hush').update('GET\n\n').digest('base64');
    const response = await validate('GET\n\n', older);
    expect(response).toMatchObject({
      status: 200,
      body: { token: { methods: ['ec2credential'], user: { name: 'admin' } } },
    });
    expect(response.body.token.project.id).toBe(token.project.id);

    const hmac = (key: string | Buffer, part: string) => createHmac('sha256', key).update(part).digest();
    const text = ['AWS4-HMAC-SHA256', '20260101T000000Z', '20260101/RegionOne/s3/aws4_request', 'digest'].join('\n');
    const key = ['RegionOne', 's3', 'aws4_request'].reduce<Buffer>(hmac, hmac('AWS4hush', '20260101'));
    expect((await validate(text, hmac(key, text).toString('hex'))).status).toBe(200);
    expect((await validate(text.replace('/s3/', '/ec2/'), older)).status).toBe(401);
    expect((await validate('GET\n', older)).status).toBe(401);
    expect((await validate('GET\n\n', older, 'nobody')).status).toBe(404);
    expect((await clientOf(cloud, cloud.token('ada', 'lab'))('POST', '/identity/v3/s3tokens', {})).status).toBe(403);
  });

  it('updates the encryption of a volume type by the id in the response to its creation', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const type = (await request('POST', '/volume/v3/types', { volume_type: { name: 'safe' } })).body.volume_type;
    const path = `/volume/v3/types/${type.id}/encryption`;
    const created = await request('POST', path, {
      encryption: { provider: 'luks', cipher: 'aes-xts-plain64', key_size: 256, control_location: 'front-end' },
    });
    expect(created.body.encryption).toMatchObject({ volume_type_id: type.id, encryption_id: expect.any(String) });
    const change = { encryption: { control_location: 'back-end', provider: '' } };
    expect((await request('PUT', `${path}/${created.body.encryption.encryption_id}`, change)).status).toBe(200);
    expect((await request('GET', path)).body.control_location).toBe('back-end');
  });

  it('completes an attachment without a connector', async () => {
    const cloud = await cloudUnderTest();
    const request = clientOf(cloud);
    const { server } = (await request('POST', '/compute/v2.1/servers', serverBody())).body;
    const { volume } = (await request('POST', '/volume/v3/volumes', { volume: { size: 1 } })).body;
    const version = { 'OpenStack-API-Version': 'volume 3.44' };
    const body = { attachment: { volume_uuid: volume.id, instance_uuid: server.id } };
    const { attachment } = (await request('POST', '/volume/v3/attachments', body, version)).body;
    const path = `/volume/v3/attachments/${attachment.id}`;
    expect((await request('POST', `${path}/action`, { 'os-complete': attachment.id }, version)).status).toBe(204);
    expect((await request('GET', path, undefined, version)).body.attachment).toMatchObject({ status: 'attached' });
    expect((await request('GET', `/volume/v3/volumes/${volume.id}`)).body.volume.status).toBe('in-use');
    expect((await request('DELETE', path, undefined, version)).status).toBe(200);
    expect((await request('GET', `/volume/v3/volumes/${volume.id}`)).body.volume.status).toBe('available');
  });
});
