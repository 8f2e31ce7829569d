#pragma once

// Empty: poppler-cpp is C++. The module only supplies its flags.
