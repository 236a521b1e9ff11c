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
