import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeIssuerKey, OidcIssuer, signToken } from '../../../test/harness/oidc-issuer.js';
import { eventually } from '../../../test/harness/eventually.js';
import { decodeJson, stringifyJson } from '../../codec/json.js';
import { FlagError } from '../../config/flag-error.js';
import { namingProfile } from '../../config/naming-profile.js';
import { systemClock } from '../../std/clock.js';
import { silentLogger } from '../../std/logger.js';
import { isAuthenticated } from '../authenticator.js';
import { JwtIssuers } from '../jwt-issuers/jwt-issuers.js';
import { readAuthenticationConfiguration } from './authentication-configuration.js';
import type { IssuerSource } from './jwt-configuration.js';

// Configurations with the answers of kube-apiserver; see fixtures/README.md.
type Fields = Readonly<Record<string, unknown>>;
interface Row {
  readonly jwt?: unknown;
  readonly errors?: readonly string[] | undefined;
  readonly entry?: Fields | undefined;
  readonly claims?: Fields | undefined;
  readonly raw?: string | undefined;
  readonly user?: Fields;
  readonly rejected?: boolean;
}

const fixture = (name: string) => readFileSync(join(__dirname, 'fixtures', name), 'utf8');
const defaults = JSON.parse(fixture('defaults.json')) as { readonly entry: Fields; readonly claims: Fields };
const rows = fixture('answers.jsonl')
  .trim()
  .split('\n')
  .map((line) => decodeJson(line) as Row);
const validations = rows.filter(({ jwt }) => jwt !== undefined);
const tokens = rows.filter(({ jwt }) => jwt === undefined);

const read = (jwt: unknown) =>
  readAuthenticationConfiguration(
    JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', jwt }),
    {
      file: 'file',
      naming: namingProfile('kubernetes'),
      isAnonymousFlagGiven: false,
      allowsEverything: false,
      ownIssuers: ['https://own.example.com'],
    },
  );

/** Returns the fields and types of the errors. */
function errorsOf(jwt: unknown): string[] {
  try {
    read(jwt);
    return [];
  } catch (error) {
    if (!(error instanceof FlagError)) throw error;
    return error.problems.map((problem) => problem.replace(/^([^:]+: [A-Z][a-z]+ ?[a-z]*)[^]*$/, '$1'));
  }
}

/** URLs that Go parses and that no request could be sent to, or would be changed before. */
const refusedUrls = ['https://', 'https://a.example:99999', 'https:a.example', 'https://a.example/\\x'];
/** Expressions that fail in kube-apiserver for its types of lists and of `claims`; its documentation has the first one. */
const acceptedExpressions = [
  'claims.c.split(",")',
  'string(size(claims))',
  '"a.b" in claims ? "y" : "n"',
  '"a__dot__b" in claims ? "y" : "n"',
];
/** Tells which map it is in kube-apiserver. */
const otherResults = 'type(claims) == map ? "y":"n"';

it('the errors of configurations are those of kube-apiserver', () => {
  expect(validations.length).toBeGreaterThan(600);
  const sorted = (errors: readonly string[] = []) => [...new Set(errors)].sort();
  const found = validations.map(({ jwt, errors }) => ({ jwt, own: sorted(errorsOf(jwt)), theirs: sorted(errors) }));
  const hasUrl = (jwt: unknown, url: string) =>
    ['url', 'discoveryURL'].some((field) => JSON.stringify(jwt).includes(`"${field}":${JSON.stringify(url)}`));
  const isRefusedUrl = (jwt: unknown) => refusedUrls.some((url) => hasUrl(jwt, url));
  for (const { jwt, own, theirs } of found) {
    if (isRefusedUrl(jwt))
      expect({ jwt, own }).toEqual({ jwt, own: [expect.stringMatching(/(url|discoveryURL): Invalid value/)] });
    else expect({ jwt, own }).toEqual({ jwt, own: theirs });
  }
});

describe('tokens', () => {
  const key = makeIssuerKey('key');
  let server: OidcIssuer;
  let source: IssuerSource;
  let issuers: JwtIssuers;
  const meters = {
    nowMs: 0,
    tokenChecked: () => undefined,
    keysFetched: () => undefined,
    issuerRemoved: () => undefined,
    configurationUsed: () => undefined,
    configurationReloaded: () => undefined,
  };
  beforeAll(async () => {
    server = await OidcIssuer.start();
    server.keys = [key];
    const [configured] = read([defaults.entry]).jwt;
    const { url } = configured!.issuer;
    server.answers.set('/discovery', (_request, response) =>
      response.end(JSON.stringify({ issuer: url, jwks_uri: `${server.url}/keys` })),
    );
    source = { url, discoveryUrl: `${server.url}/discovery`, certificateAuthority: server.ca };
    issuers = new JwtIssuers({ clock: systemClock, logger: silentLogger, meters, labelDomain: 'kubernetes.io' });
    issuers.start({ jwt: [{ ...configured!, issuer: source }], text: undefined });
    await eventually('the issuer is ready', async () => (await answerTo({})).user !== undefined);
  });
  afterAll(async () => {
    issuers.close();
    await server.close();
  });

  async function answerTo({ entry, claims, raw }: Row): Promise<Pick<Row, 'user' | 'rejected'>> {
    const [configured] = read([{ ...defaults.entry, ...entry }]).jwt;
    issuers.change({ jwt: [{ ...configured!, issuer: source }], text: undefined });
    const text = raw ?? stringifyJson({ ...defaults.claims, ...claims });
    const result = await issuers.authenticate(signToken(text, key));
    if (!isAuthenticated(result)) return { rejected: true };
    const { groups, ...user } = result.user;
    return { user: { ...user, groups: groups.filter((group) => group !== 'system:authenticated') } };
  }

  it('become the users of kube-apiserver', async () => {
    expect(tokens.length).toBeGreaterThan(1_000);
    const differences = { accepted: 0, rejected: 0, others: 0 };
    for (const { entry, claims, raw, ...theirs } of tokens) {
      const own = await answerTo({ entry, claims, raw });
      const text = JSON.stringify(entry ?? {});
      const has = (expression: string) => text.includes(JSON.stringify(expression));
      if (own.user && theirs.rejected && acceptedExpressions.some(has)) differences.accepted++;
      // An empty claim is no user name here.
      else if (own.rejected && ['', 'p:'].includes(String(theirs.user?.['name']))) differences.rejected++;
      else if (has(otherResults)) differences.others++;
      else expect({ entry, claims, raw, ...own }).toEqual({ entry, claims, raw, ...theirs });
    }
    expect(differences).toEqual({ accepted: 9, rejected: 6, others: 1 });
  });
});
