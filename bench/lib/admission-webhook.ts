import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeAuthority, makeKey, makeServingPair, signerOf } from '../../src/certificates/authority.js';

interface AdmissionWebhook {
  /** clientConfig of the webhook that sets an annotation, and of the one that allows all. */
  readonly mutating: object;
  readonly validating: object;
  /** Reviews that were answered. */
  readonly answered: { mutating: number; validating: number };
  stop(): void;
}

const annotation = [{ op: 'add', path: '/metadata/annotations', value: { reviewed: 'yes' } }];
const patch = { patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(annotation)).toString('base64') };

/** Starts a mutating and a validating webhook in this process, whose CPU time is not that of the measured server. */
export async function startAdmissionWebhook(): Promise<AdmissionWebhook> {
  const authorityKey = makeKey();
  const ca = await makeAuthority(authorityKey, Date.now());
  const names = { dns: ['localhost'], ip: ['127.0.0.1'], refused: [] };
  const pair = await makeServingPair(signerOf(ca, authorityKey), names, Date.now());
  const answered = { mutating: 0, validating: 0 };
  const server = createServer({ cert: pair.certificate, key: pair.key }, (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as {
        apiVersion: string;
        request: { uid: string };
      };
      const isMutating = request.url?.startsWith('/mutating') === true;
      answered[isMutating ? 'mutating' : 'validating']++;
      const { uid } = review.request;
      const verdict = { uid, allowed: true, ...(isMutating && patch) };
      const answer = { kind: 'AdmissionReview', apiVersion: review.apiVersion, response: verdict };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const clientConfig = (path: string) => ({
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}${path}`,
    caBundle: Buffer.from(ca).toString('base64'),
  });
  return {
    mutating: clientConfig('/mutating'),
    validating: clientConfig('/validating'),
    answered,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
