import { describe, expect, it } from 'vitest';
import { openApiDocuments } from './openapi.js';

describe('openApiDocuments()', () => {
  const documents = openApiDocuments([], { title: 'Books', serverUrl: 'https://default.example' });

  it('uses the server URL in the options by default', () => {
    const servers = [{ url: 'https://default.example' }];
    expect(documents.at('1.0').servers).toEqual(servers);
    expect(JSON.parse(documents.text('1.0')).servers).toEqual(servers);
  });

  it('replaces the server URL in the options, without a duplicate key in the JSON string', () => {
    const text = documents.text('1.0', 'https://request.example');
    expect(JSON.parse(text)).toEqual(documents.at('1.0', 'https://request.example'));
    expect(JSON.parse(text).servers).toEqual([{ url: 'https://request.example' }]);
    expect(text.match(/"servers":/g)).toHaveLength(1);
  });

  it('omits `servers` without a server URL', () => {
    expect(openApiDocuments([], { title: 'Books' }).text('1.0')).not.toContain('servers');
  });
});
