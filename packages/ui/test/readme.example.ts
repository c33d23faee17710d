import { createServer } from 'node:http';
import { stylePage, uiAsset } from '@apistrata/ui';

export const server = createServer((req, res) => {
  const asset = uiAsset((req.url ?? '').replace('/assets/', ''));
  const { type, text } = asset ?? { type: 'text/html; charset=utf-8', text: stylePage('/assets').text };
  res.writeHead(200, { 'Content-Type': type, 'Content-Security-Policy': "default-src 'self'" }).end(text);
}).listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
