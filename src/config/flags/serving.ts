import { accepted, used, type FlagTopic } from '../flag.js';

export const tlsVersions = ['VersionTLS10', 'VersionTLS11', 'VersionTLS12', 'VersionTLS13'] as const;

export const servingFlags: FlagTopic = {
  title: 'Secure serving',
  flags: [
    used('bind-address', 'string', '0.0.0.0', 'serving.bindAddress', 'IP address to listen on'),
    used('secure-port', 'int', '6443', 'serving.securePort', 'port to serve HTTPS on; 0 takes any free one'),
    used(
      'cert-dir',
      'string',
      '/var/run/kubernetes',
      'serving.certDirectory',
      'directory of generated certificates and keys',
    ),
    used(
      'tls-cert-file',
      'string',
      '',
      'serving.tlsCertFile',
      'serving certificate, with its chain; generated when not given',
    ),
    used('tls-private-key-file', 'string', '', 'serving.tlsPrivateKeyFile', 'key of the serving certificate'),
    used(
      'tls-cipher-suites',
      'list',
      '',
      'serving.tlsCipherSuites',
      "TLS 1.2 cipher suites by their IANA names; by default Node's",
    ),
    used('tls-min-version', 'string', '', 'serving.tlsMinVersion', 'oldest TLS version (VersionTLS12 when not given)', {
      choices: tlsVersions,
    }),
    used(
      'tls-sni-cert-key',
      'strings',
      '',
      'serving.sniCertKeys',
      'another certificate by server name: cert,key[:name,...]; repeatable',
    ),
    accepted('tls-curve-preferences', 'list', '', 'elliptic curves for the key exchange'),
    used('disable-http2-serving', 'bool', 'false', 'serving.http2', 'serve HTTP/1.1 only', { negated: true }),
    used(
      'http2-max-streams-per-connection',
      'int',
      '0',
      'serving.http2MaxStreamsPerConnection',
      'requests at once on one HTTP/2 connection; 0 takes the bound of config/limits.yaml',
    ),
    accepted('permit-address-sharing', 'bool', 'false', 'set SO_REUSEADDR'),
    accepted('permit-port-sharing', 'bool', 'false', 'set SO_REUSEPORT'),
  ],
};
