import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keyPem, makeAuthority, makeKey, makeServingPair, signerOf } from '../certificates/authority.js';
import { makeEphemeralPki } from '../certificates/ephemeral-pki.js';
import { servingNames } from '../certificates/serving-names.js';
import { liveServingPair } from '../certificates/tls-material.js';
import { defaultConfig } from '../config/load-config.js';
import { ManualClock, type Timer } from '../std/clock.js';
import { silentLogger } from '../std/logger.js';
import { openTls } from './tls.js';
import { UndoSteps } from './undo-steps.js';

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tls-'));
});
afterEach(() => rm(directory, { recursive: true }));

class TimerCount extends ManualClock {
  readonly pending = new Set<Timer>();

  override after(delayMs: number, task: () => void): Timer {
    const timer = super.after(delayMs, task);
    const counted = {
      cancel: () => {
        this.pending.delete(counted);
        timer.cancel();
      },
    };
    this.pending.add(counted);
    return counted;
  }
}

async function pairFiles(name: string): Promise<{ certFile: string; keyFile: string }> {
  const [key, clock] = [makeKey(), new ManualClock()];
  const authority = await makeAuthority(key, clock.now());
  const pair = await makeServingPair(signerOf(authority, key), servingNames({ hostNames: [name] }), clock.now());
  const files = { certFile: join(directory, `${name}.crt`), keyFile: join(directory, `${name}.key`) };
  await writeFile(files.certFile, pair.certificate);
  await writeFile(files.keyFile, pair.key);
  return files;
}

test('after a pair of --tls-sni-cert-key could not be read, the files of no pair are polled', async () => {
  const clock = new TimerCount();
  const [broken, good] = [await pairFiles('broken.example'), await pairFiles('good.example')];
  await writeFile(broken.keyFile, keyPem(makeKey()));
  const sniCertKeys = [broken, good, good, good].map((files) => ({ ...files, names: [] }));
  const pki = await makeEphemeralPki({ clock: new ManualClock() });
  const undo = new UndoSteps();
  const opening = openTls(defaultConfig({ serving: { sniCertKeys } }), pki, { clock, logger: silentLogger, undo });
  await expect(opening).rejects.toThrow(/broken\.example\.key does not belong to/);
  await undo.run();
  // Read last, so that files which the failed start was still reading have been read, too.
  const options = { certificateFile: good.certFile, keyFile: good.keyFile, clock, logger: silentLogger };
  (await liveServingPair(options)).close();
  expect(clock.pending.size).toBe(0);
});

describe('--requestheader-client-ca-file', () => {
  const usernameHeaders = ['X-Remote-User'];
  const caFile = async (name: string) => {
    const file = join(directory, `${name}.crt`);
    await writeFile(file, await makeAuthority(makeKey(), new ManualClock().now()));
    return file;
  };
  const open = async (authentication: object, undo: UndoSteps) => {
    const clock = new ManualClock();
    const pki = await makeEphemeralPki({ clock });
    await writeFile(join(directory, 'own.crt'), pki.authority.current().pem);
    await openTls(defaultConfig({ authentication }), pki, { clock, logger: silentLogger, undo });
  };

  test.each<[string, 'clients' | 'own', string[], boolean]>([
    ['the CA of clients without allowed names is an error', 'clients', [], true],
    ['the CA of the server without allowed names is an error', 'own', [], true],
    ['the CA of clients with allowed names is accepted', 'clients', ['front'], false],
  ])('%s', async (_name, ca, allowedNames, isError) => {
    const undo = new UndoSteps();
    const clientCaFile = await caFile('clients');
    const proxyFile = ca === 'own' ? join(directory, 'own.crt') : clientCaFile;
    const requestHeader = { clientCaFile: proxyFile, usernameHeaders, allowedNames };
    const opening = open({ clientCaFile, requestHeader }, undo);
    if (isError) {
      await expect(opening).rejects.toThrow(/--requestheader-client-ca-file, --client-ca-file: .*allowed-names/);
    } else await expect(opening).resolves.toBeUndefined();
    await undo.run();
  });

  test('another CA than that of clients is accepted without allowed names', async () => {
    const undo = new UndoSteps();
    const requestHeader = { clientCaFile: await caFile('proxies'), usernameHeaders };
    await open({ clientCaFile: await caFile('clients'), requestHeader }, undo);
    await undo.run();
  });
});
