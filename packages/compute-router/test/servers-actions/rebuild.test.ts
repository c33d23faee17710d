import { describe, expect, it } from 'vitest';
import { policies } from '../../src/index.js';
import { apiUnderTest, ids } from '../api-under-test.js';
import { sharedByTests } from '../shared-by-tests.js';
import { historyOf, images, show, stage } from './stage.js';

describe('rebuild', () => {
  const on = sharedByTests(stage);

  it('replaces the image and other requested fields, and returns all of them', async () => {
    const server = await on.ada('2.37').boot();
    await on.ada().post('/os-keypairs', { keypair: { name: 'mine' } });
    const responded = await on.ada('2.94').act(server.id, 'rebuild', {
      imageRef: images.other,
      name: 'again',
      adminPass: 'secret',
      metadata: { role: 'web' },
      'OS-DCF:diskConfig': 'AUTO',
      accessIPv4: '192.0.2.7',
      accessIPv6: '2001:db8::7',
      description: null,
      key_name: 'mine',
      user_data: 'aGVsbG8=',
      trusted_image_certificates: ['cert'],
      hostname: 'again.example.org',
    });
    expect(responded.status).toBe(202);
    expect(responded.headers.get('location')).toContain(`/v2.1/servers/${server.id}`);
    expect(responded.body.server).toMatchObject({
      id: server.id,
      status: 'REBUILD',
      name: 'again',
      adminPass: 'secret',
      metadata: { role: 'web' },
      'OS-DCF:diskConfig': 'AUTO',
      accessIPv4: '192.0.2.7',
      accessIPv6: '2001:db8::7',
      description: null,
      key_name: 'mine',
      user_data: 'aGVsbG8=',
      trusted_image_certificates: ['cert'],
      'OS-EXT-SRV-ATTR:hostname': 'again.example.org',
      image: { id: images.other },
    });
    expect(await show(on, server.id)).toMatchObject({
      status: 'ACTIVE',
      name: 'again',
      image: { id: images.other, properties: { os_distro: 'other' } },
    });
    expect((await historyOf(on, server.id))[0]).toEqual(['rebuild', null]);
  });

  it('keeps omitted fields, and resets those that are null', async () => {
    const server = await on.ada('2.63').boot({ metadata: { role: 'web' } });
    await on
      .ada('2.63')
      .act(server.id, 'rebuild', { imageRef: ids.image, user_data: 'aGVsbG8=', trusted_image_certificates: ['x'] });
    expect(await show(on, server.id)).toMatchObject({
      'OS-EXT-SRV-ATTR:user_data': 'aGVsbG8=',
      trusted_image_certificates: ['x'],
    });
    await on.ada('2.63').act(server.id, 'rebuild', { imageRef: ids.image });
    expect(await show(on, server.id)).toMatchObject({
      metadata: { role: 'web' },
      'OS-EXT-SRV-ATTR:user_data': 'aGVsbG8=',
    });
    const nothing = { user_data: null, trusted_image_certificates: null, key_name: null, metadata: {} };
    await on.ada('2.63').act(server.id, 'rebuild', { imageRef: ids.image, ...nothing });
    const shown = await show(on, server.id);
    expect(shown).toMatchObject({
      'OS-EXT-SRV-ATTR:user_data': null,
      trusted_image_certificates: null,
      key_name: null,
    });
    expect(shown.metadata).toEqual({});
  });

  it.each([
    ['personality', [], '2.56', '2.57'],
    ['user_data', null, '2.57', '2.56'],
    ['description', null, '2.19', '2.18'],
    ['key_name', null, '2.54', '2.53'],
    ['trusted_image_certificates', null, '2.63', '2.62'],
    ['hostname', 'label', '2.90', '2.89'],
    ['hostname', 'a.b', '2.94', '2.93'],
  ])('accepts %s (%j) at %s and not at %s', async (field, value, accepted, unknown) => {
    const server = await on.ada('2.37').boot();
    const body = { imageRef: ids.image, [field]: value };
    expect((await on.ada(unknown).act(server.id, 'rebuild', body)).status).toBe(400);
    expect((await on.ada(accepted).act(server.id, 'rebuild', body)).status).toBe(202);
  });

  it('leaves a stopped server stopped, and repairs one in error', async () => {
    const server = await on.ada('2.37').boot();
    await on.ada().act(server.id, 'os-stop');
    await on.ada().act(server.id, 'rebuild', { imageRef: ids.image });
    expect((await show(on, server.id)).status).toBe('SHUTOFF');
    await on.admin().act(server.id, 'os-resetState', { state: 'error' });
    await on.ada().act(server.id, 'rebuild', { imageRef: ids.image });
    expect((await show(on, server.id)).status).toBe('ACTIVE');
  });

  it.each([
    ['an image that does not exist', { imageRef: '55555555-5555-4555-8555-555555555555' }, 400],
    ['an image without content', { imageRef: images.queued }, 400],
    ['an image that the flavor is too small for', { imageRef: images.large }, 400],
    ['an unknown key', { imageRef: ids.image, key_name: 'unknown' }, 400],
    [
      'too many metadata items',
      { imageRef: ids.image, metadata: Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`k${i}`, ''])) },
      403,
    ],
  ])('rejects %s', async (_what, body, status) => {
    const server = await on.ada('2.37').boot();
    expect((await on.ada('2.56').act(server.id, 'rebuild', body)).status).toBe(status);
    expect((await show(on, server.id)).status).toBe('ACTIVE');
  });

  it('rejects files beyond the limits', async () => {
    const server = await on.ada('2.37').boot();
    const file = { path: '/x', contents: 'aGVsbG8=' };
    for (const personality of [
      Array.from({ length: 6 }, () => file),
      [{ ...file, path: `/${'x'.repeat(255)}` }],
      [{ ...file, contents: Buffer.alloc(10_241).toString('base64') }],
    ])
      expect((await on.ada('2.56').act(server.id, 'rebuild', { imageRef: ids.image, personality })).status).toBe(403);
  });

  it('reimages the root volume since 2.93, and accepts only the same image before', async () => {
    const server = await on.bootFromVolume();
    expect((await on.ada('2.92').act(server.id, 'rebuild', { imageRef: images.other })).status).toBe(400);
    expect((await on.ada('2.92').act(server.id, 'rebuild', { imageRef: ids.image })).status).toBe(202);
    expect((await on.ada('2.93').act(server.id, 'rebuild', { imageRef: images.other })).status).toBe(202);
    const shown = await show(on, server.id);
    expect(shown).toMatchObject({ status: 'ACTIVE', image: '' });
    const [{ id }] = shown['os-extended-volumes:volumes_attached'];
    const volume = await on.api.engine.catalogs.volumes.getVolume({ userId: 'ada', projectId: 'p1', roles: [] }, id);
    expect(volume).toMatchObject({ status: 'in-use', imageMetadata: { image_id: images.other } });
    expect(volume.attachments).toHaveLength(1);
    const certificates = { imageRef: ids.image, trusted_image_certificates: ['x'] };
    expect((await on.ada('2.93').act(server.id, 'rebuild', certificates)).status).toBe(400);
  });

  it('returns 403 if the policy denies servers:rebuild:trusted_certs, and only with certificates', async () => {
    const rule = 'os_compute_api:servers:rebuild:trusted_certs';
    const api = await apiUnderTest({ router: { policies: policies({ overrides: { [rule]: '!' } }) } });
    const ada = api.as('ada:p1', '2.90');
    const { id } = await ada.boot();
    const certificates = { imageRef: ids.image, trusted_image_certificates: ['x'] };
    const { status, body } = await ada.act(id, 'rebuild', certificates);
    expect([status, body.forbidden?.message]).toEqual([403, expect.stringContaining(rule)]);
    expect((await ada.act(id, 'rebuild', { imageRef: ids.image })).status).toBe(202);
    await api.close();
  });

  it('returns no password if passwords are disabled', async () => {
    const quiet = await stage({ settings: { enableInstancePassword: false } });
    const server = await quiet.ada('2.37').boot();
    const response = await quiet.ada().act(server.id, 'rebuild', { imageRef: ids.image });
    expect(response.body.server).not.toHaveProperty('adminPass');
    expect((await quiet.ada().act(server.id, 'rescue')).body).toEqual({});
    await quiet.api.close();
  });

  it('leaves a server in error with a fault if the machine fails', async () => {
    const server = await on.ada('2.37').boot({ name: 'unlucky' });
    const rule = on.driver.addRule({
      match: { name: 'unlucky', action: 'rebuild', verb: 'rebuild' },
      fail: 'disk on fire',
    });
    await on.ada().act(server.id, 'rebuild', { imageRef: ids.image });
    expect(await show(on, server.id)).toMatchObject({ status: 'ERROR', fault: { code: 500, message: 'disk on fire' } });
    expect((await historyOf(on, server.id))[0]).toEqual(['rebuild', 'Error']);
    rule.remove();
  });
});
