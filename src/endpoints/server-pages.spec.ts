import { shell } from '../../test/harness/shell.js';
import { standardEncodings } from '../codec/encodings.js';
import { ManualClock } from '../std/clock.js';
import { ServerPageRequests } from './server-page-requests.js';
import { flagsPage, statusPage } from './server-pages.js';
import { versionDocument } from '../config/version-document.js';

function world({ withFlags = true } = {}) {
  const clock = new ManualClock();
  const startedAtMs = clock.now();
  const requests = new ServerPageRequests({
    group: 'config.example',
    encodings: standardEncodings,
    pages: {
      statusz: statusPage({
        version: versionDocument(),
        startedAtMs,
        now: () => clock.now(),
        paths: () => ['/livez', '/version'],
      }),
      flagz: withFlags ? flagsPage(() => [['secure-port', '6443']]) : undefined,
    },
  });
  const server = shell((request, reply) => requests.answer(request, reply));
  const get = async (url: string, accept?: string, method: 'GET' | 'POST' = 'GET') => {
    const headers = accept === undefined ? {} : { accept };
    const { statusCode, body, headers: given } = await server.inject({ method, url, headers });
    return { code: statusCode, body, type: given['content-type'] };
  };
  return { clock, startedAtMs, get };
}

const text = 'text/plain; charset=utf-8';
const structured = (kind: string, type = 'application/json') => `${type};g=config.example;v=v1alpha1;as=${kind}`;

describe('/statusz and /flagz', () => {
  it.each<[url: string, accept: string | undefined, code: number, type: string, holds: string]>([
    ['/flagz', undefined, 200, text, 'secure-port=6443\n'],
    ['/flagz', 'text/plain', 200, text, 'kube-apiserver flagz\n'],
    ['/flagz', '*/*', 200, text, 'secure-port=6443\n'],
    ['/flagz', structured('Flagz'), 200, 'application/json', '"flags":{"secure-port":"6443"}'],
    ['/flagz', structured('Flagz', 'application/yaml'), 200, 'application/yaml', 'secure-port: "6443"'],
    ['/flagz', `${structured('Statusz')},text/plain`, 200, text, 'secure-port=6443\n'],
    ['/flagz', structured('Statusz'), 406, 'application/json', 'text/plain, application/json;g=config.example'],
    ['/flagz', 'application/json', 406, 'application/json', 'NotAcceptable'],
    ['/statusz', undefined, 200, text, 'Paths: /livez /version\n'],
    ['/statusz', structured('Statusz'), 200, 'application/json', '"paths":["/livez","/version"]'],
  ])('GET %s with Accept %s answers %s', async (url, accept, code, type, holds) => {
    const answer = await world().get(url, accept);
    expect(answer).toMatchObject({ code, type });
    expect(answer.body).toContain(holds);
  });

  it('/statusz contains start time and uptime', async () => {
    const { clock, get } = world();
    clock.advance((26 * 3600 + 61) * 1000);
    expect((await get('/statusz')).body).toContain('Up: 26 hr 01 min 01 sec\n');
    expect(JSON.parse((await get('/statusz', structured('Statusz'))).body)).toMatchObject({ uptimeSeconds: 93_661 });
  });

  it('is 404 if the feature gate is off, and 405 for methods other than GET', async () => {
    expect(await world({ withFlags: false }).get('/flagz')).toMatchObject({ code: 404 });
    expect(await world().get('/statusz', undefined, 'POST')).toMatchObject({ code: 405 });
  });
});
