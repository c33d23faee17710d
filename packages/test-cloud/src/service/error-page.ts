import { TextBody } from './text-body.js';

export const escapedHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/**
 * Returns an HTML error page in the format of WebOb, a library that OpenStack's services use.
 * @param head status and title, such as `404 Not Found`
 * @param content HTML
 */
export function errorPage(head: string, content: string): TextBody {
  const page = [
    '<html>',
    ' <head>',
    `  <title>${head}</title>`,
    ' </head>',
    ' <body>',
    `  <h1>${head}</h1>`,
    `  ${content}`,
    ' </body>',
    '</html>',
  ];
  return new TextBody('text/html', page.join('\n'));
}
