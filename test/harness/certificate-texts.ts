import { pemBlocks } from '../../src/certificates/pem-blocks.js';

/** Certificates and a request, created once with a P-256 key that was not kept. */

/** A CA, valid for a hundred years. */
export const authorityPem = `-----BEGIN CERTIFICATE-----
MIIBKzCB0qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMTCWF1dGhvcml0
eTAgFw0yNjAxMDEwMDAwMDBaGA8yMTI2MDEwMTAwMDAwMFowFDESMBAGA1UEAxMJ
YXV0aG9yaXR5MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEOX3oEMqIeT8vAUv1
ydn7lKfQESoOeMaIxc8fjLoigFk70SdoOJBC0cw/4wW78EaooYIiia2t89OIsA+W
WuZiKaMTMBEwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiAQ1rKZ
ZiD8r3eBa/n1gE/b+LdOnbjPSjThB8Ieid9XsgIhANyZGU5oBXqNwCHRV0PctPOC
90120l0yqjfhPmdmOPLu
-----END CERTIFICATE-----
`;

/** Signed by the CA, valid on 2026-01-01 only. */
export const leafPem = `-----BEGIN CERTIFICATE-----
MIIBEzCBuaADAgECAgECMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMTCWF1dGhvcml0
eTAeFw0yNjAxMDEwMDAwMDBaFw0yNjAxMDIwMDAwMDBaMA4xDDAKBgNVBAMTA2pv
ZTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABDl96BDKiHk/LwFL9cnZ+5Sn0BEq
DnjGiMXPH4y6IoBZO9EnaDiQQtHMP+MFu/BGqKGCIomtrfPTiLAPllrmYimjAjAA
MAoGCCqGSM49BAMCA0kAMEYCIQCkSqQ50WHEYL8OXdor8DCINjlWn+5Wj+qS1o+p
UmH37gIhALtoDwx9U1CUU6rwS7nfzAhQSvgFexT+DAQPmQtWw+yd
-----END CERTIFICATE-----
`;

/** A request for `O=example, CN=joe`. */
export const requestPem = `-----BEGIN CERTIFICATE REQUEST-----
MIHcMIGCAgEAMCAxEDAOBgNVBAoTB2V4YW1wbGUxDDAKBgNVBAMTA2pvZTBZMBMG
ByqGSM49AgEGCCqGSM49AwEHA0IABDl96BDKiHk/LwFL9cnZ+5Sn0BEqDnjGiMXP
H4y6IoBZO9EnaDiQQtHMP+MFu/BGqKGCIomtrfPTiLAPllrmYimgADAKBggqhkjO
PQQDAgNJADBGAiEA7A8vqSZVVibuhMeNGiRhJJdQPMaWlErbTyohfTjEA/YCIQC4
wHZSaqCq7pClnHNPMDf9PC18vcUM7gRUNWQWsgPofg==
-----END CERTIFICATE REQUEST-----
`;

/** The public key as base64 of its DER, and a signature over `pod-uid`. */
export const publicKeyBase64 =
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEOX3oEMqIeT8vAUv1ydn7lKfQESoOeMaIxc8fjLoigFk70SdoOJBC0cw/4wW78EaooYIiia2t89OIsA+WWuZiKQ==';
export const podUidSignature =
  'MEUCIQC3T2YcaslJcA/toXIDCet8PLnifkgtXWemFIBzeVV7igIgItCCfp1B2492A65gw67kOhnD7y2Xbu+KDpwsjAujj4o=';

/** The spec of a PodCertificateRequest with that request. */
export const podRequestSpec = {
  signerName: 'example.com/s',
  podName: 'p',
  podUID: 'pod-uid',
  serviceAccountName: 'default',
  serviceAccountUID: 'account-uid',
  nodeName: 'n',
  nodeUID: 'node-uid',
  stubPKCS10Request: pemBlocks(requestPem)[0]!.bytes.toString('base64'),
};
