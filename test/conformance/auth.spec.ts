import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeEphemeralPki } from '../../src/certificates/ephemeral-pki.js';
import type { ConfigOverrides } from '../../src/config/load-config.js';
import { systemClock } from '../../src/std/clock.js';
import { startTestServer, type TestServer } from '../harness/servers.js';
import { allowingAll, identities, impersonating, refusals, withoutAnonymous } from './auth.cases.js';
import { makeWorld, runTables, type Table, type World } from './case.js';

let directory: string;
let tokenAuthFile: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keelson-auth-'));
  tokenAuthFile = join(directory, 'tokens.csv');
  await writeFile(tokenAuthFile, 'root-token,root,1,"system:masters"\ndev-token,dev,2,"dev,other"\n');
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Runs tables on a server with a configuration, with a client for each user in them. */
function suite(
  name: string,
  authorization: 'AlwaysDeny' | 'AlwaysAllow',
  anonymous: boolean,
  tables: readonly Table[],
) {
  describe(name, () => {
    let server: TestServer;
    let world: World;
    beforeAll(async () => {
      const config: ConfigOverrides = {
        authorization: { modes: [authorization] },
        authentication: { tokenAuthFile, anonymous },
      };
      server = await startTestServer({ store: 'memory', naming: 'kubernetes' }, { config });
      const ours = await makeEphemeralPki({ clock: systemClock });
      const another = await makeEphemeralPki({ clock: systemClock, hostNames: ['another'] });
      world = makeWorld(server, 'http/1.1', {
        root: server.client({ token: 'root-token' }),
        dev: server.client({ token: 'dev-token' }),
        wrong: server.client({ token: 'wrong-token' }),
        nobody: server.client(),
        carl: server.client(await ours.issueClient({ commonName: 'carl', organizations: ['dev'] })),
        stranger: server.client(await another.issueClient({ commonName: 'carl', organizations: ['system:masters'] })),
      });
    });
    afterAll(() => server.stop());
    runTables(tables, () => world);
  });
}

suite('everything denied', 'AlwaysDeny', true, [identities, refusals, impersonating]);
suite('everything allowed', 'AlwaysAllow', true, [allowingAll]);
suite('nobody known', 'AlwaysDeny', false, [withoutAnonymous]);
