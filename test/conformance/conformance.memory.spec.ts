import { conformanceSuite } from './suite.js';

conformanceSuite({ store: 'memory', naming: 'kubernetes', protocol: 'http/1.1', rows: 'all' });
conformanceSuite({ store: 'memory', naming: 'svc', protocol: 'h2', rows: 'store' });
