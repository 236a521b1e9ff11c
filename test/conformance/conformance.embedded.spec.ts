import { conformanceSuite } from './suite.js';

conformanceSuite({ store: 'embedded', naming: 'kubernetes', protocol: 'h2', rows: 'store' });
conformanceSuite({ store: 'embedded', naming: 'svc', protocol: 'http/1.1', rows: 'few' });
