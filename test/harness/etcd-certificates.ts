import 'reflect-metadata';
import * as x509 from '@peculiar/x509';
import { webcrypto } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface EtcdCertificates {
  readonly caFile: string;
  readonly serverCertFile: string;
  readonly serverKeyFile: string;
  readonly clientCertFile: string;
  readonly clientKeyFile: string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };

/** Creates a CA, a certificate for these addresses and a client certificate as PEM files in `folder`. */
export async function makeEtcdCertificates(
  folder: string,
  addresses: readonly string[] = ['127.0.0.1'],
  authorityName = 'etcd-ca',
): Promise<EtcdCertificates> {
  const validity = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const newKeys = () => webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const pemOfKey = async ({ privateKey }: webcrypto.CryptoKeyPair) =>
    x509.PemConverter.encode(await webcrypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY');

  const caKeys = await newKeys();
  const ca = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: '01',
    name: `CN=${authorityName}`,
    ...validity,
    signingAlgorithm: algorithm,
    keys: caKeys,
    extensions: [
      new x509.BasicConstraintsExtension(true, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign, true),
    ],
  });
  const issue = async (name: string, serialNumber: string, usage: x509.ExtendedKeyUsage) => {
    const keys = await newKeys();
    const certificate = await x509.X509CertificateGenerator.create({
      serialNumber,
      subject: `CN=${name}`,
      issuer: ca.subject,
      ...validity,
      signingAlgorithm: algorithm,
      publicKey: keys.publicKey,
      signingKey: caKeys.privateKey,
      extensions: [
        new x509.ExtendedKeyUsageExtension([usage]),
        new x509.SubjectAlternativeNameExtension(addresses.map((value) => ({ type: 'ip', value }))),
      ],
    });
    return {
      certFile: file(`${name}.crt`, certificate.toString('pem')),
      keyFile: file(`${name}.key`, await pemOfKey(keys)),
    };
  };
  const server = await issue('server', '02', x509.ExtendedKeyUsage.serverAuth);
  const client = await issue('client', '03', x509.ExtendedKeyUsage.clientAuth);
  return {
    caFile: file('ca.crt', ca.toString('pem')),
    serverCertFile: server.certFile,
    serverKeyFile: server.keyFile,
    clientCertFile: client.certFile,
    clientKeyFile: client.keyFile,
  };
}
