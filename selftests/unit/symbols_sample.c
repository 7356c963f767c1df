// SPDX-License-Identifier: Apache-2.0 OR MIT
/* A shared object that contains the C++ name geo::area(int, int). */
int _ZN3geo4areaEii(int width, int height);
int plain(int value);

#line 30 "/src/geo.cc"
int _ZN3geo4areaEii(int width, int height) { return width * height; }
#line 40 "/src/geo.cc"
int plain(int value) { return _ZN3geo4areaEii(value, value); }
