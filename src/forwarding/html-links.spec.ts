import { once } from 'node:events';
import { HtmlLinks } from './html-links.js';
import { rewriteLink } from './link-rewriting.js';
import { cleanPath, escapePath, prefixOf } from './proxied-path.js';

const context = { prefix: '/api/v1/nodes/n/proxy', hosts: ['10.0.0.1:80', 'example.org'] };

async function rewritten(page: string, pieceLength: number): Promise<string> {
  const links = new HtmlLinks((link) => rewriteLink(link, context));
  const read: Buffer[] = [];
  links.on('data', (bytes: Buffer) => read.push(bytes));
  const bytes = Buffer.from(page, 'latin1');
  for (let at = 0; at < bytes.length; at += pieceLength) links.write(bytes.subarray(at, at + pieceLength));
  links.end();
  await once(links, 'end');
  return Buffer.concat(read).toString('latin1');
}

const p = context.prefix;
it.each<[string, string, string]>([
  ['a link', '<a href="/x">/x</a>', `<a href="${p}/x">/x</a>`],
  ['single quotes', "<A class=b HREF='/x'>", `<A class=b HREF='${p}/x'>`],
  ['no quotes', '<img src=/x/ alt=/y>', `<img src=${p}/x/ alt=/y>`],
  [
    'several attributes',
    '<input src="/a" formaction = "/b" value="/c"/>',
    `<input src="${p}/a" formaction = "${p}/b" value="/c"/>`,
  ],
  ['another element', '<p href="/x">', '<p href="/x">'],
  [
    'a script',
    '<script src="/s">"<a href=/x>"</script><a href=/x>',
    `<script src="${p}/s">"<a href=/x>"</script><a href=${p}/x>`,
  ],
  ['a comment', '<!-- <a href="/x> --><a href=/x>', `<!-- <a href="/x> --><a href=${p}/x>`],
  ['an empty comment', '<!--><a href=/x>', `<!--><a href=${p}/x>`],
  ['a declaration', '<!DOCTYPE html><a href=/x>', `<!DOCTYPE html><a href=${p}/x>`],
  ['a sign that begins no tag', 'a < b <3 <a href=/x>', `a < b <3 <a href=${p}/x>`],
  ['an incomplete tag', '<a href="/x', '<a href="/x'],
  ['bytes that are not UTF-8', '\xff<a href="/\xe9">\x00', `\xff<a href="${p}/\xe9">\x00`],
])('the page with %s is rewritten, in pieces of any length', async (_what, page, want) => {
  for (const length of [1, 2, 3, 7, 1_000]) expect(await rewritten(page, length)).toBe(want);
});

it('a tag without an end is passed as it is, with what follows', async () => {
  const page = `<a href="${'x'.repeat(100_000)}`;
  expect(await rewritten(page, 1_000)).toBe(page);
});

it.each<[string, string]>([
  ['/x?q=/y#/z', `${p}/x?q=/y#/z`],
  ['/', `${p}/`],
  ['/a/../../../../../b', '/api/b'],
  ['http://10.0.0.1:80/x', `${p}/x`],
  ['https://example.org/x', `${p}/x`],
  ['//example.org/x', `${p}/x`],
  [`${p}/x`, `${p}/x`],
  ['http://other.example/x', 'http://other.example/x'],
  ['//other.example/x', '//other.example/x'],
  ['http://example.org', 'http://example.org'],
  ['x/y', 'x/y'],
  ['?q', '?q'],
  ['', ''],
  ['mailto:a@b', 'mailto:a@b'],
  ['javascript:/x', 'javascript:/x'],
])('link "%s" becomes "%s"', (link, want) => expect(rewriteLink(link, context)).toBe(want));

it.each<[string, string]>([
  ['', ''],
  ['/', '/'],
  ['/a//b/./c/', '/a/b/c/'],
  ['/../../etc', '/etc'],
  ['/a/..', '/'],
  ['/..//..', '/'],
  ['a', '/a'],
])('path "%s" is cleaned to "%s"', (path, want) => expect(cleanPath(path)).toBe(want));

it('a path is escaped so that no byte of it ends the request line', () =>
  expect(escapePath('/a b?c#d%/é\r\n\0!')).toBe('/a%20b%3Fc%23d%25/%C3%A9%0D%0A%00%21'));

it.each<[string, string, string]>([
  ['/api/v1/nodes/n/proxy/a', '/a', '/api/v1/nodes/n/proxy'],
  ['/api/v1/nodes/n/proxy/a/', '/a', '/api/v1/nodes/n/proxy'],
  ['/api/v1/nodes/n/proxy', '', '/api/v1/nodes/n/proxy'],
  ['/api/v1/nodes/n/proxy//a', '/a', '/api/v1/nodes/n/proxy/'],
])('the prefix of %s for path "%s" is %s', (request, path, want) => expect(prefixOf(request, path)).toBe(want));
