import { createServer } from 'node:http';
import request from 'supertest';
import { describe, expect, it } from 'vitest';
import { sendUnauthorized } from '../../src/identity/unauthorized.js';

const response = (uri: string) => request(createServer((_, res) => sendUnauthorized(res, uri))).get('/');

describe('the response to a request without a valid token', () => {
  it('contains the URL for tokens and has the body of the identity layer', async () => {
    const res = await response('http://identity:5000/v3');
    expect(res.status).toBe(401);
    expect(res.headers['www-authenticate']).toBe('Keystone uri="http://identity:5000/v3"');
    expect(res.headers['content-type']).toBe('application/json');
    expect(res.body).toEqual({ error: { code: 401, title: 'Unauthorized', message: expect.stringMatching(/\w/) } });
  });

  it('escapes the URL in the header', async () => {
    const res = await response('http://x/"\r\nSet-Cookie: a=b\\ é😀');
    expect(res.headers['set-cookie']).toBeUndefined();
    expect(res.headers['www-authenticate']).toBe(
      'Keystone uri="http://x/%22%0D%0ASet-Cookie:%20a=b%5C%20%C3%A9%F0%9F%98%80"',
    );
  });
});
