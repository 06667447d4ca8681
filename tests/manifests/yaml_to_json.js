// SPDX-License-Identifier: Apache-2.0
// Reads YAML documents from standard input and prints them as one JSON array. Runs in the folder
// that scripts/fetch-manifest-tools made.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';

const { parseAllDocuments } = createRequire(join(process.cwd(), 'package.json'))('yaml');
console.log(JSON.stringify(parseAllDocuments(readFileSync(0, 'utf8')).map((each) => each.toJS())));
