import { parseList, parseSources, withSuite } from './debian-source.js';

const signedParagraphs = `Types: deb
# a remark
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /keys/debian.gpg

Types: deb-src
URIs: http://mirror.example/debian
Suites: bookworm
Components: main

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
`;

describe('package sources', () => {
  const signed = { uri: 'http://mirror.example/debian', fields: ['Signed-By: /keys/debian.gpg'] };
  const cases = [
    {
      name: 'paragraphs: one source per suite, without deb-src and disabled entries',
      got: parseSources(signedParagraphs),
      want: [
        { ...signed, suite: 'bookworm', components: 'main contrib' },
        { ...signed, suite: 'bookworm-updates', components: 'main contrib' },
      ],
    },
    {
      name: 'an inline key is kept whole',
      got: parseSources(
        'Types: deb\nURIs: http://a\nSuites: s\nComponents: c\nSigned-By:\n -----BEGIN\n .\n -----END\n',
      ),
      want: [{ uri: 'http://a', suite: 's', components: 'c', fields: ['Signed-By:\n -----BEGIN\n .\n -----END'] }],
    },
    {
      name: 'lines with and without options',
      got: parseList(
        '# deb http://no x y\ndeb [arch=amd64 signed-by=/keys/debian.gpg] http://mirror.example/debian bookworm main contrib\ndeb-src http://no s m\ndeb http://b sid main\n',
      ),
      want: [
        { ...signed, suite: 'bookworm', components: 'main contrib' },
        { uri: 'http://b', suite: 'sid', components: 'main', fields: [] },
      ],
    },
    {
      name: 'another suite keeps all other fields',
      got: withSuite({ ...signed, suite: 'bookworm', components: 'main' }, 'trixie'),
      want: 'Types: deb\nURIs: http://mirror.example/debian\nSuites: trixie\nComponents: main\nSigned-By: /keys/debian.gpg\n',
    },
  ];
  it.each(cases)('parses $name', ({ got, want }) => expect(got).toEqual(want));
});
