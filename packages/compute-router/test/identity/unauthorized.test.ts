import { createServer } from 'node:http';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { sendUnauthorized } from '../../src/identity/unauthorized.js';

const answer = (uri: string) => request(createServer((_, res) => sendUnauthorized(res, uri))).get('/');

describe('the answer to a request without valid token', () => {
  it('says where to get one and has the body of the identity layer', async () => {
    const res = await answer('http://identity:5000/v3');
    expect(res.status).toBe(401);
    expect(res.headers['www-authenticate']).toBe('Keystone uri="http://identity:5000/v3"');
    expect(res.headers['content-type']).toBe('application/json');
    expect(res.body).toEqual({ error: { code: 401, title: 'Unauthorized', message: expect.stringMatching(/\w/) } });
  });

  it('does not let an address break out of the header', async () => {
    const res = await answer('http://x/"\r\nSet-Cookie: a=b\\ é😀');
    expect(res.headers['set-cookie']).toBeUndefined();
    expect(res.headers['www-authenticate']).toBe(
      'Keystone uri="http://x/%22%0D%0ASet-Cookie:%20a=b%5C%20%C3%A9%F0%9F%98%80"',
    );
  });
});
