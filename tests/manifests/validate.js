// SPDX-License-Identifier: Apache-2.0
// Reads Kubernetes objects as a JSON array from standard input and prints, as another, what is wrong
// with them. A value is judged by the published schemas; a field that no schema knows by the types
// made of them, since the schemas let such fields pass. Runs in the folder that
// scripts/fetch-manifest-tools made.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const tools = process.cwd();
const fromTools = createRequire(join(tools, 'package.json'));
const ts = fromTools('typescript');

const name = (object) => `${object.kind} ${object.metadata?.name}`;

// Packages of API groups that are not Kubernetes' own.
const packages = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

// The module that has the schemas and types of an object: one per API group and version.
function moduleOf({ apiVersion }) {
  return `${packages[apiVersion.split('/')[0]] ?? 'kubernetes-models'}/${apiVersion}`;
}

async function schemaErrors(object) {
  const path = join(tools, 'node_modules', moduleOf(object), 'index.js');
  const { [object.kind]: Model } = await import(pathToFileURL(path));
  try {
    new Model(object).validate();
    return [];
  } catch (error) {
    return [`${name(object)}: ${error.message}`];
  }
}

// The objects as TypeScript literals, whose fields must all be those of their interface.
function typeErrors(objects) {
  const file = join(tools, 'objects.ts');
  const text = objects.map((object, index) =>
    `import type { I${object.kind} as Type${index} } from '${moduleOf(object)}';\n` +
    `export const object${index}: Type${index} = ${JSON.stringify(object)};\n`).join('');
  const options = { noEmit: true, strict: true, skipLibCheck: true, types: [],
    module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (path) => path === file || fileExists(path);
  host.getSourceFile = (path, ...rest) => path === file
    ? ts.createSourceFile(path, text, ts.ScriptTarget.ESNext)
    : getSourceFile(path, ...rest);
  const program = ts.createProgram([file], options, host);
  return ts.getPreEmitDiagnostics(program)
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}

const objects = JSON.parse(readFileSync(0, 'utf8'));
const errors = (await Promise.all(objects.map(schemaErrors))).flat();
console.log(JSON.stringify([...errors, ...typeErrors(objects)]));
