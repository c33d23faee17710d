import { describe, expect, it } from 'vitest';
import { parseForward } from './forward-rule.js';

describe('a port forwarding', () => {
  it.each([
    ['2222:22', { server: null, protocol: 'tcp', hostPorts: [2222, 2222], guestPort: 22 }],
    ['2200-2299:22', { server: null, protocol: 'tcp', hostPorts: [2200, 2299], guestPort: 22 }],
    ['web:8080:80', { server: 'web', protocol: 'tcp', hostPorts: [8080, 8080], guestPort: 80 }],
    ['a: b:5353:53/udp', { server: 'a: b', protocol: 'udp', hostPorts: [5353, 5353], guestPort: 53 }],
  ])('is parsed: %s', (text, rule) => {
    expect(parseForward(text)).toEqual({ text, ...rule });
  });

  it.each([['22'], ['2222'], ['2222:22:'], ['2222:22/sctp'], [''], ['2222:22,guestfwd=x']])(
    'is rejected: %s',
    (text) => {
      expect(() => parseForward(text)).toThrow('is not [NAME:]HOSTPORT[-LAST]:GUESTPORT[/udp]');
    },
  );

  it.each([['80:80'], ['70000:80'], ['3000-2000:22'], ['2222:0'], ['2222:70000']])(
    'requires valid ports: %s',
    (text) => {
      expect(() => parseForward(text)).toThrow('invalid');
    },
  );
});
